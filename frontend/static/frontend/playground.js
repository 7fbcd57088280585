// Asks both columns, one after the other, and shows each answer as it comes.
(() => {
  const form = document.getElementById("playground");
  if (!form) return;
  const columns = [...document.querySelectorAll("[data-column]")].map((element) => ({ element, messages: [] }));
  const sooner = document.getElementById("sooner");
  const ms = (value) => (value == null ? "–" : `${Math.round(value).toLocaleString("en")} ms`);
  const number = (value) => (value == null ? "–" : Number(value).toLocaleString("en"));
  const show = (column, name, text) => (column.element.querySelector(`[data-figure=${name}]`).textContent = text);

  function say(column, role, text) {
    const line = document.createElement("li");
    line.className = role;
    line.textContent = text;
    column.element.querySelector(".talk").append(line);
    return line;
  }

  async function* lines(stream) {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const found = (rest + part.value).split("\n");
      rest = found.pop();
      yield* found.filter(Boolean).map((line) => JSON.parse(line));
    }
    if (rest.trim()) yield JSON.parse(rest);
  }

  const tell = {
    start: (column, event) => {
      show(column, "facts", number(event.facts));
      show(column, "tokens", `${number(event["tokens-injected"])} / ${number(event["tokens-text"])}`);
      show(column, "retrieval", event["retrieval-ms"] ? ms(Number(event["retrieval-ms"])) : "–");
    },
    text: (column, event, line) => {
      line.textContent += event.text;
      show(column, "ttft", ms(event.ttft_ms));
    },
    end: (column, event) => {
      column.ttft = event.ttft_ms;
      show(column, "total", ms(event.total_ms));
      show(column, "output", number(event.output_tokens));
    },
    error: (column, event, line) => {
      line.className = "problem";
      line.textContent = event.message;
      column.failed = true;
    },
  };

  async function ask(column, question) {
    const mode = column.element.querySelector("select").value;
    Object.assign(column, { failed: false, ttft: null, mode });
    column.messages.push({ role: "user", content: question });
    say(column, "user", question);
    const line = say(column, "assistant", "");
    const { user, max_tokens, fresh } = form.elements;
    const body = { user: user.value, max_tokens: max_tokens.value, fresh: fresh.checked, mode, messages: column.messages };
    const headers = { "Content-Type": "application/json", "X-CSRFToken": form.dataset.token };
    column.element.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.dataset.url, { method: "POST", headers, body: JSON.stringify(body) });
      const isOurs = /json/.test(answer.headers.get("content-type") ?? "");
      if (!isOurs) throw new Error(`the server answers ${answer.status}`);
      for await (const event of lines(answer.body)) tell[event.kind](column, event, line);
    } catch (error) {
      tell.error(column, { message: `It could not be asked: ${error.message}.` }, line);
    }
    column.element.removeAttribute("aria-busy");
    if (column.failed) column.messages.pop();
    else column.messages.push({ role: "assistant", content: line.textContent });
    line.textContent ||= "The model ended at once, without a word.";
  }

  function compare() {
    const [one, two] = columns;
    if (!one.ttft || !two.ttft || one.mode === two.mode) return;
    const [fast, slow] = one.ttft <= two.ttft ? [one, two] : [two, one];
    const name = (column) => column.element.querySelector("select").selectedOptions[0].textContent;
    sooner.textContent = `${name(fast)}: the first token came ${(slow.ttft / fast.ttft).toFixed(1)}× as soon as with “${name(slow)}”.`;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const question = form.elements.question.value.trim();
    const button = form.querySelector(".primary");
    if (!question || button.disabled) return;
    button.disabled = true;
    sooner.textContent = "";
    for (const column of columns) await ask(column, question);
    compare();
    button.disabled = false;
    form.elements.question.value = "";
    form.elements.question.focus();
  });
  form.elements.question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    form.requestSubmit();
  });
  document.getElementById("playground-clear").addEventListener("click", () => {
    columns.forEach((column) => {
      column.messages = [];
      column.element.querySelector(".talk").replaceChildren();
      column.element.querySelectorAll("[data-figure]").forEach((figure) => (figure.textContent = "–"));
    });
    sooner.textContent = "";
  });
})();
