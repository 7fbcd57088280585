// Small manners: polling while somebody looks, asking before harm, copying, menus that close.
(() => {
  const EVERY = 5_000; // ms
  const UNSEEN_EVERY = 60_000;
  let polled = Date.now();

  function poll() {
    polled = Date.now();
    document.querySelectorAll("[data-poll]").forEach((element) => htmx.trigger(element, "poll"));
  }

  setInterval(() => {
    const due = Date.now() - polled >= (document.hidden ? UNSEEN_EVERY : EVERY);
    if (due && !document.querySelector("dialog[open]")) poll();
  }, 1_000);
  document.addEventListener("visibilitychange", () => document.hidden || poll());

  // A fragment that comes anew keeps open what was open.
  let open = [];
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    open = [...target.querySelectorAll("details[open][id]")].map((element) => element.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    open.map((id) => document.getElementById(id)).forEach((element) => element && (element.open = true));
  });

  const offline = (is) => (document.getElementById("offline").hidden = !is);
  document.addEventListener("htmx:sendError", () => offline(true));
  document.addEventListener("htmx:responseError", ({ detail }) => offline(detail.xhr.status >= 500));
  document.addEventListener("htmx:afterOnLoad", ({ detail }) => detail.successful && offline(false));

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const { submitter } = event;
    const question = submitter?.dataset.confirm ?? form.dataset.confirm;
    if (!question || form.dataset.sure) return;
    event.preventDefault();
    if (!(await confirmed(question))) return;
    form.dataset.sure = "yes";
    form.requestSubmit(submitter);
    delete form.dataset.sure;
  });

  function confirmed(text) {
    const dialog = document.getElementById("confirm");
    document.getElementById("confirm-text").textContent = text;
    dialog.returnValue = "no";
    dialog.showModal();
    return new Promise((answer) => {
      dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true });
    });
  }

  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-check-all]")) {
      target.form.querySelectorAll("[name=fact]").forEach((box) => (box.checked = target.checked));
    }
    const form = target.closest("[data-submit-on-change]");
    if (!form) return;
    const custom = form.querySelector(".custom");
    const isCustom = form.elements.period.value === "custom";
    custom.hidden = !isCustom;
    custom.querySelectorAll("input").forEach((input) => (input.disabled = !isCustom));
    form.querySelector("[data-without-script]").hidden = !isCustom;
    if (!isCustom) form.requestSubmit();
  });

  document.addEventListener("click", async ({ target }) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => menu.contains(target) || (menu.open = false));
    if (target.closest("#theme")) toggleTheme();
    const button = target.closest("[data-copy]");
    if (button) await copy(button);
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  });

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    const label = button.querySelector("span:last-child");
    try {
      await navigator.clipboard.writeText(source.textContent);
      label.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source); // no clipboard without https: Ctrl-C does it
      label.textContent = "Selected";
    }
    setTimeout(() => (label.textContent = "Copy"), 2_000);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-submit-on-change]").forEach((form) => {
      const isCustom = form.elements.period?.value === "custom";
      form.querySelector("[data-without-script]").hidden = !isCustom;
      form.querySelectorAll(".custom input").forEach((input) => (input.disabled = !isCustom));
    });
  });
})();
