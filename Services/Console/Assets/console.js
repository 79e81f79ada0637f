// Keys, the live list, and nothing that a page needs: without this file everything works.
"use strict";
(() => {
  const stored = (() => { try { return window.localStorage; } catch { return null; } })();
  const keysBox = document.getElementById("keys");
  if (keysBox) {
    keysBox.checked = stored?.getItem("keys") !== "off";
    keysBox.addEventListener("change", () => stored?.setItem("keys", keysBox.checked ? "on" : "off"));
  }

  let waitsForSecond = false;
  const rows = () => [...document.querySelectorAll("main [data-row]")].filter((row) => row.offsetParent !== null);
  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const index = all.indexOf(document.activeElement);
    const next = index < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(index + step, 0), all.length - 1);
    all[next].focus();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (keysBox && !keysBox.checked)) return;
    const tag = event.target.tagName;
    if (tag === "INPUT" || tag === "SELECT" || tag === "TEXTAREA") {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (waitsForSecond) {
      waitsForSecond = false;
      const link = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    switch (event.key) {
      case "/": { const box = document.getElementById("q"); if (box) { event.preventDefault(); box.focus(); box.select(); } break; }
      case "?": window.location.assign("/help"); break;
      case "g": waitsForSecond = true; break;
      case "j": move(1); break;
      case "k": move(-1); break;
    }
  });

  const live = document.querySelector("[data-live]");
  if (live && window.EventSource) {
    live.hidden = false;
    const button = document.getElementById("live");
    const state = document.getElementById("live-state");
    const body = document.getElementById("rows");
    let source = null;
    const cell = (tag, text) => { const element = document.createElement(tag); element.textContent = text; return element; };
    const add = (row) => {
      const line = document.createElement("tr");
      const first = document.createElement("th");
      first.scope = "row";
      const link = cell("a", row.type);
      link.href = row.address;
      link.dataset.row = "";
      first.append(link);
      line.append(first, cell("td", row.app), cell("td", row.environment), cell("td", row.source), cell("td", row.recorded));
      body.prepend(line);
      while (body.rows.length > 200) body.lastElementChild.remove();
    };
    const stop = (text) => { source?.close(); source = null; button.setAttribute("aria-pressed", "false"); button.textContent = "Show new ones as they come"; state.textContent = text; };
    button.addEventListener("click", () => {
      if (source) { stop("Paused."); return; }
      source = new EventSource(live.dataset.live);
      button.setAttribute("aria-pressed", "true");
      button.textContent = "Pause";
      state.textContent = "Waiting for new ones.";
      source.addEventListener("notification", (event) => add(JSON.parse(event.data)));
      source.addEventListener("more", (event) => { state.textContent = `${event.data} more came at once and are not shown.`; });
      source.addEventListener("error", () => stop("The connection ended."));
    });
  }

  // Of the step back from the provider: nothing is left for the person to decide.
  document.querySelector("form[data-submit]")?.requestSubmit();

  const reload = document.querySelector("[data-reload]");
  if (reload) window.setTimeout(() => window.location.reload(), 2000);
})();
