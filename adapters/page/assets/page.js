"use strict";

// Shows the objects as they are after the step that is chosen, and goes from step to step by keys.
for (const stage of document.querySelectorAll(".stage")) {
  const source = stage.querySelector("script"); // what has no objects has steps to go through all the same
  const data = source && JSON.parse(source.textContent);
  const steps = [...stage.querySelectorAll(".step")];
  const panel = stage.querySelector(".objects");

  // after returns the objects after a step, and what is new in them by it.
  const after = (last) => {
    const objects = new Map(data.from.map((o) => [o.name, new Map(o.fields.map((f) => [f.path, f.value]))]));
    let fresh = new Set();
    for (const leg of data.legs || []) {
      for (const step of leg.steps || []) {
        if (step.number > last) return { objects, fresh };
        fresh = new Set();
        for (const effect of step.effects || []) {
          if (effect.deleted) {
            objects.delete(effect.object);
            continue;
          }
          const fields = objects.get(effect.object) || new Map();
          objects.set(effect.object, fields);
          for (const path of [...fields.keys()]) {
            if (effect.gone.some((gone) => below(path, gone))) fields.delete(path);
          }
          for (const field of effect.fields) {
            fields.set(field.path, field.value);
            fresh.add(effect.object + "\n" + field.path);
          }
        }
      }
    }
    return { objects, fresh };
  };

  const below = (path, other) =>
    path.startsWith(other) && (other === "" || path.length === other.length || path[other.length] === "." || path[other.length] === "[");

  const element = (name, text) => {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  };

  const choose = (step) => {
    for (const other of steps) other.classList.toggle("chosen", other === step);
    if (!data) return;
    const last = Number(step.dataset.last);
    const { objects, fresh } = after(last);
    panel.replaceChildren(element("h3", "Objects after step " + last));
    for (const name of [...objects.keys()].sort()) {
      panel.append(element("h4", name));
      const list = element("dl", "");
      list.className = "fields";
      for (const path of [...objects.get(name).keys()].sort()) {
        const value = document.createElement("dd");
        value.append(element(fresh.has(name + "\n" + path) ? "ins" : "span", objects.get(name).get(path)));
        list.append(element("dt", path), value);
      }
      panel.append(list);
    }
    panel.hidden = false;
  };

  steps.forEach((step, at) => {
    step.addEventListener("focus", () => choose(step));
    step.addEventListener("click", () => choose(step));
    step.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: steps.length - 1 }[event.key];
      if (to === undefined || !steps[to]) return;
      event.preventDefault();
      steps[to].focus();
      steps[to].scrollIntoView({ block: "nearest" });
    });
  });
}

// What is folded is printed, too.
const folded = () => document.querySelectorAll("details:not([open])");
addEventListener("beforeprint", () => folded().forEach((d) => { d.open = d.dataset.folded = "yes"; }));
addEventListener("afterprint", () => document.querySelectorAll("details[data-folded]").forEach((d) => { d.open = false; delete d.dataset.folded; }));
