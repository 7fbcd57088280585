// Before the first paint: light or dark, as chosen here or else as the system has it.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem("theme");
    document.documentElement.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    document.dispatchEvent(new Event("theme"));
  };
  system.addEventListener("change", apply);
  window.toggleTheme = () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  };
  apply();
})();
