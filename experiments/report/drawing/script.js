// Conveniences only: without this script the page shows the same numbers and curves.
"use strict";
(() => {
  // Legend entries switch the curves of one controller on the whole page.
  const sheet = document.getElementById("hidden");
  const hidden = new Set([...document.querySelectorAll("button.chip.off")].map((chip) => chip.dataset.k));
  document.addEventListener("click", (event) => {
    const chip = event.target.closest("button.chip");
    if (chip) {
      const slot = chip.dataset.k;
      if (!hidden.delete(slot)) hidden.add(slot);
      sheet.textContent = [...hidden].map((k) => `svg .${k}{display:none}`).join("");
      document.querySelectorAll(`button.chip[data-k="${slot}"]`).forEach((c) => c.classList.toggle("off", hidden.has(slot)));
    }
    const enlarge = event.target.closest("button.enlarge");
    if (enlarge) enlarge.closest("figure").classList.toggle("large");
  });

  // A link to a folded section unfolds it; on paper nothing is folded.
  const unfold = () => {
    const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = aim && aim.querySelector(":scope > details");
    if (folded) {
      folded.open = true;
      aim.scrollIntoView();
    }
  };
  window.addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => {
    if (event.target.closest('a[href^="#"]')) setTimeout(unfold);
  });
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
  unfold();

  // Curves are written as "M x y l dx dy dx dy ..." in whole units: read them back once.
  const points = (curve) => {
    if (!curve.points) {
      curve.points = curve.getAttribute("d").split("M").slice(1).map((run) => {
        const steps = (run.match(/-?\d+/g) || []).map(Number);
        const out = [[steps[0], steps[1]]];
        for (let i = 2; i + 1 < steps.length; i += 2) {
          const [x, y] = out[out.length - 1];
          out.push([x + steps[i], y + steps[i + 1]]);
        }
        return out;
      });
    }
    return curve.points;
  };
  const at = (curve, x) => {
    for (const run of points(curve)) {
      if (x < run[0][0] || x > run[run.length - 1][0]) continue;
      let low = 0;
      let high = run.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (run[middle][0] <= x) low = middle; else high = middle;
      }
      const [[x0, y0], [x1, y1]] = [run[low], run[high]];
      return x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y0;
    }
    return null;
  };

  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.hidden = true;
  const cursor = document.createElementNS(document.querySelector("svg").namespaceURI, "path");
  cursor.setAttribute("class", "cursor");
  const form = (v) => String(v).replace("-", "\u2212");
  const resolved = (v, span) => form(Number(v.toFixed(Math.min(12, Math.max(0, Math.ceil(3 - Math.log10(span)))))) + 0);

  const leave = () => {
    tip.hidden = true;
    cursor.remove();
  };
  const read = (event) => {
    const plot = event.target.closest && event.target.closest("svg.plot");
    if (!plot) return leave();
    const hit = plot.querySelector(".hit");
    const box = hit.getBoundingClientRect();
    const [width, height] = [Number(hit.getAttribute("width")), Number(hit.getAttribute("height"))];
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const [x0, x1] = plot.dataset.x.split(" ").map(Number);
    const [y0, y1] = plot.dataset.y.split(" ").map(Number);
    const [across, unit] = plot.dataset.units.split("|");
    const value = (y) => {
      const p = 1 - y / height;
      if (plot.dataset.log) return form(Number(Math.exp(Math.log(y0) + p * (Math.log(y1) - Math.log(y0))).toPrecision(3)));
      return resolved(y0 + p * (y1 - y0), y1 - y0);
    };
    const rows = [...plot.querySelectorAll(".curve")]
      .filter((curve) => getComputedStyle(curve).display !== "none")
      .map((curve) => [curve, at(curve, part * width)])
      .filter(([, y]) => y !== null)
      .reverse();
    tip.replaceChildren();
    const head = tip.appendChild(document.createElement("b"));
    const along = plot.dataset.logx ? form(Number((x0 * (x1 / x0) ** part).toPrecision(3))) : resolved(x0 + part * (x1 - x0), x1 - x0);
    head.textContent = `${across}: ${along}`;
    for (const [curve, y] of rows) {
      const row = tip.appendChild(document.createElement("div"));
      const mark = row.appendChild(document.createElement("span"));
      mark.textContent = "\u25cf ";
      mark.style.color = getComputedStyle(curve).stroke;
      row.append(`${curve.dataset.n}: ${value(y)} ${unit}`);
    }
    cursor.setAttribute("d", `M${Math.round(part * width)} 0v${height}`);
    plot.appendChild(cursor);
    tip.hidden = false;
    const left = event.clientX + 14 + tip.offsetWidth > innerWidth ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14;
    tip.style.left = `${Math.max(2, left)}px`;
    tip.style.top = `${Math.max(2, Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 4))}px`;
  };
  document.addEventListener("pointermove", read);
  document.addEventListener("pointerdown", read);
  document.addEventListener("scroll", leave, { passive: true });
})();
