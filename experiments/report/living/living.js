// The page: controls, curves, measures. All numbers come from the loop run here.
"use strict";
(() => {
  const { about } = DATA;
  const Plant = globalThis[about.plant];
  const Controller = globalThis[about.controller];
  const scenes = DATA.scenes.map(unpacked);
  const RUNS = [
    { name: "as designed", color: "--soft", dash: [5, 4], width: 1.2 },
    { name: "reference gains", color: "--k1", dash: [], width: 1.2 },
    { name: "now", color: "--k0", dash: [], width: 2 },
  ];
  const state = { scene: 0, authority: 1, reference: 1, disturbance: 1, shift: {}, gains: {}, parameters: {} };
  const root = document.getElementById("living");

  const make = (tag, properties = {}, ...children) => {
    const node = document.createElement(tag);
    const { data, ...rest } = properties;
    Object.assign(node, rest);
    Object.assign(node.dataset, data || {});
    node.append(...children);
    return node;
  };
  const words = (name) => name.replaceAll("_", " ");
  const short = (v) => (Number.isFinite(v) ? Number(v.toPrecision(3)).toString() : "not finite").replace("-", "\u2212");

  // ---------------------------------------------------------------- controls
  const sliders = [];
  let number = 0;
  function slider(label, { low, high, at, step = 0.01, shown, set }) {
    const id = `slider${number++}`;
    const input = make("input", { type: "range", id, min: low, max: high, step, value: at });
    const value = make("output", { htmlFor: id });
    const told = () => { set(Number(input.value)); value.textContent = shown(Number(input.value)); };
    input.addEventListener("input", () => { told(); ask(); });
    sliders.push(() => { input.value = at; told(); });
    const row = make("div", { className: "slider" }, make("label", { htmlFor: id }, label), value, input);
    told();
    return row;
  }
  const times = (v) => `\u00d7 ${v.toFixed(2)}`;
  const factor = (set) => ({ low: -3, high: 3, at: 0, shown: (v) => times(2 ** v), set: (v) => set(2 ** v) });

  const choice = make("select", { id: "scene" });
  DATA.scenes.forEach((scene, k) => choice.append(make("option", { value: k }, words(scene.name))));
  choice.addEventListener("change", () => { state.scene = Number(choice.value); ask(); });
  const again = make("button", { type: "button", className: "again" }, "All as designed");
  again.addEventListener("click", () => { sliders.forEach((reset) => reset()); ask(); });

  const group = (title, ...rows) => make("fieldset", {}, make("legend", {}, title), ...rows);
  const controls = make("form", { className: "controls" });
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.append(
    group("Situation", make("div", { className: "pick" }, make("label", { htmlFor: "scene" }, "Situation"), choice),
      slider("References", { low: -2, high: 3, at: 1, shown: times, set: (v) => { state.reference = v; } }),
      ...about.outputs.map((name, j) => slider(`Reference of ${words(name)}`, { // moved by whole parts of its scale
        low: -150, high: 150, at: 0, step: 1, set: (v) => { state.shift[name] = (v * about.scales[j]) / 50; },
        shown: (v) => `${v >= 0 ? "+" : "\u2212"} ${short(Math.abs((v * about.scales[j]) / 50))} ${about.units[name]}`,
      })),
      ...(about.disturbances.length
        ? [slider("Disturbances", { low: 0, high: 3, at: 1, shown: times, set: (v) => { state.disturbance = v; } })]
        : [])),
    group("Controller",
      slider("Authority of the schedule", { low: 0, high: 1, at: 1, shown: (v) => `${Math.round(100 * v)} %`,
        set: (v) => { state.authority = v; } }),
      ...about.gains.map((name) => slider(words(name), factor((v) => { state.gains[name] = v; })))),
  );
  const turned = about.parameters
    .map((slot, j) => [slot, j])
    .filter(([slot, j]) => slot !== about.deadTime && scenes.some((scene) => scene.parameters[j] !== 0));
  if (turned.length) {
    controls.append(make("details", {}, make("summary", {}, `Plant: parameters (${turned.length})`),
      ...turned.map(([slot]) => slider(words(slot.slice(2)), {
        low: 0.5, high: 1.5, at: 1, shown: times, set: (v) => { state.parameters[slot] = v; } }))));
  }
  controls.append(again);

  // ---------------------------------------------------------------- curves
  const charts = [];
  function chart(title, unit, pick, steps = false) {
    const canvas = make("canvas", { role: "img", ariaLabel: `${title} over time` });
    const figure = make("figure", { className: "chart" },
      make("figcaption", {}, title, " ", make("small", {}, unit ? `[${unit}]` : "")), canvas);
    charts.push({ canvas, pick, steps });
    return figure;
  }
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function ticks(low, high, wanted) {
    const raw = (high - low) / wanted;
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].find((m) => m * size >= raw) * size;
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) - 1e-9) + (step / size === 2.5)));
    const large = Math.max(Math.abs(low), Math.abs(high));
    const told = (v) => (large >= 1e6 || large < 1e-4 ? v.toExponential(2) : (v + 0).toFixed(Math.min(digits, 9)));
    return found.map((v) => [v, told(Math.abs(v) < 1e-9 * step ? 0 : v).replace("-", "\u2212")]);
  }

  function draw({ canvas, pick }, runs) {
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const curves = runs.flatMap((run, k) => pick(run).map((curve) => ({ ...RUNS[k], ...curve, time: run.time })));
    let [bottom, top] = [Infinity, -Infinity];
    for (const { values } of curves) {
      for (const v of values) {
        if (v < bottom) bottom = v;
        if (v > top) top = v;
      }
    }
    if (!Number.isFinite(top - bottom)) [bottom, top] = [-1, 1];
    if (top === bottom) [bottom, top] = [bottom - 0.1 * Math.abs(bottom || 1), top + 0.1 * Math.abs(top || 1)];
    const margin = 0.06 * (top - bottom);
    [bottom, top] = [bottom - margin, top + margin];
    const end = runs[0].time.length * about.sampleTime;
    const [left, right, up, down] = [52, 8, 6, 20];
    const x = (t) => left + (t / end) * (wide - left - right);
    const y = (v) => up + ((top - v) / (top - bottom)) * (high - up - down);
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.strokeStyle = color("--grid");
    pen.fillStyle = color("--soft");
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const [v, label] of ticks(bottom, top, 5)) {
      pen.beginPath();
      pen.moveTo(left, y(v));
      pen.lineTo(wide - right, y(v));
      pen.stroke();
      pen.fillText(label, left - 6, y(v));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const [t, label] of ticks(0, end, Math.max(3, Math.floor(wide / 90)))) {
      pen.fillText(`${label} s`, Math.min(x(t), wide - 16), high - down + 5);
    }
    for (const curve of curves) {
      pen.strokeStyle = color(curve.color);
      pen.lineWidth = curve.width;
      pen.setLineDash(curve.dash);
      pen.beginPath();
      trace(pen, curve, x, y);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  // Each column of pixels: from where the curve comes to its least, its largest and on; no peak is lost.
  function trace(pen, { time, values }, x, y) {
    let k = 0;
    while (k < values.length) {
      const column = Math.round(x(time[k]));
      let [low, high, last] = [values[k], values[k], values[k]];
      pen.lineTo(x(time[k]), y(values[k]));
      for (k++; k < values.length && Math.round(x(time[k])) === column; k++) {
        last = values[k];
        low = Math.min(low, last);
        high = Math.max(high, last);
      }
      if (high > low) {
        pen.lineTo(column, y(low));
        pen.lineTo(column, y(high));
        pen.lineTo(column, y(last));
      }
    }
  }

  // ---------------------------------------------------------------- measures
  function measures(run) {
    const found = {};
    const h = about.sampleTime;
    for (const name of about.outputs) {
      let [absolute, effort, travel, largest] = [0, 0, 0, 0];
      const [r, y, u] = [run.references[name], run.outputs[name], run.commands[name]];
      for (let k = 0; k < r.length; k++) {
        const e = Math.abs(r[k] - y[k]);
        absolute += h * e;
        effort += h * u[k] * u[k];
        travel += k ? Math.abs(u[k] - u[k - 1]) : 0;
        largest = Math.max(largest, Math.abs(u[k]));
      }
      found[name] = [absolute, effort, travel, largest];
    }
    return found;
  }
  const table = make("table");
  const legend = make("p", { className: "legend" });
  const alert = make("p", { className: "alert", hidden: true });

  function tabulate(runs) {
    const all = runs.map(measures);
    const head = make("tr", {}, make("th", {}, "Measure"), ...RUNS.map((run) => make("th", {}, run.name)));
    const rows = about.outputs.flatMap((name) => [
      `${words(name)}: integral of |error| (IAE)`, `${words(name)}: effort, integral of command\u00b2`,
      `${words(name)}: travel of the command`, `${words(name)}: largest |command|`,
    ].map((label, j) => make("tr", {}, make("th", { scope: "row" }, label),
      ...all.map((one) => make("td", {}, short(one[name][j]))))));
    table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
    const gone = runs.map((run, k) => [RUNS[k].name, run.left]).filter(([, left]) => left !== null);
    alert.hidden = !gone.length;
    alert.textContent = gone
      .map(([name, left]) => `${name}: left the region where the model holds at ${short(left)} s`).join("; ");
  }

  // ---------------------------------------------------------------- put together
  const figures = about.outputs.flatMap((name) => [
    chart(words(name), about.units[name], (run) => [
      { values: run.references[name], color: "--ink", dash: [2, 3], width: 1 }, { values: run.outputs[name] },
    ]),
    chart(`Command of ${words(name)}`, "", (run) => [{ values: run.commands[name] }]),
  ]);
  const gains = about.gains.map((name) => chart(`Gain ${words(name)}`, "", (run) => [{ values: run.gains[name] }]));
  RUNS.forEach((run) => {
    const line = make("span", { className: "line" });
    line.style.borderTop = `${Math.ceil(run.width)}px ${run.dash.length ? "dashed" : "solid"} var(${run.color})`;
    legend.append(make("span", { className: "key" }, line, run.name));
  });
  const line = make("span", { className: "line" });
  line.style.borderTop = "1px dotted var(--ink)";
  legend.append(make("span", { className: "key" }, line, "reference"));
  const lead = make("p", { className: "lead" },
    "Plant and controller run here, in this page, as they ran in the design: the same equations, rules and integrator. " +
    "\u201cReference gains\u201d is the same loop without the schedule.");
  const note = make("p", { className: "note" });
  root.append(lead, make("div", { className: "living" }, controls,
    make("div", { className: "shown" }, legend, alert, make("div", { className: "charts" }, ...figures, ...gains),
      make("div", { className: "scroll" }, table), note)));

  const known = new Map();
  function designed(scene) {
    if (!known.has(scene)) known.set(scene, closedLoop(Plant, Controller, about, scene));
    return known.get(scene);
  }
  let asked = false;
  function ask() {
    if (!asked) requestAnimationFrame(() => { asked = false; show(); });
    asked = true;
  }
  function show() {
    const scene = scenes[state.scene];
    const changed = { ...state };
    const runs = [
      designed(scene),
      closedLoop(Plant, Controller, about, scene, { ...changed, authority: 0, gains: {} }),
      closedLoop(Plant, Controller, about, scene, changed),
    ];
    charts.forEach((one) => draw(one, runs));
    tabulate(runs);
  }

  // Every situation once, as designed, one after the other: how far is this page from the compiled simulation?
  const found = {};
  function compare(number) {
    const scene = scenes[number];
    const errors = Object.values(agreement(about, scene, designed(scene)));
    found[scene.name] = errors.some(Number.isNaN) ? NaN : Math.max(...errors);
    if (number + 1 < scenes.length) setTimeout(compare, 0, number + 1);
    else conclude(Math.max(...Object.values(found)));
  }
  function conclude(largest) {
    root.dataset.agreement = JSON.stringify(found);
    note.textContent = `In ${scenes.length} situations, as designed, this page differs from the compiled simulation by at ` +
      `most ${largest.toExponential(1)} of a signal's range.`;
    const missing = Object.entries(DATA.left_out);
    if (missing.length) {
      note.append(make("details", {}, make("summary", {}, `Left out: ${missing.length}`),
        make("ul", {}, ...missing.map(([name, why]) => make("li", {}, `${words(name)}: ${why}`)))));
    }
    if (!(largest <= 1e-9)) note.className = "alert";
  }
  window.addEventListener("resize", ask);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ask);
  show();
  compare(0);
})();
