// The plant in motion. Nothing plays by itself; without this script one still frame is seen.
"use strict";
for (const figure of document.querySelectorAll("figure.picture")) {
  const data = JSON.parse(figure.querySelector("script.drives").textContent);
  const stage = figure.querySelector(".stage");
  const make = (name, parent, text = "", given = {}) => {
    const found = Object.assign(parent.appendChild(document.createElement(name)), given);
    if (text) found.append(text);
    return found;
  };
  const summed = (columns) => columns.map((steps) => { let sum = 0; return steps.map((step) => (sum += step)); });
  const pool = data.pool.map((one) => {
    if (Array.isArray(one)) return summed(one);
    for (const key of ["still", "path", "free", "motion", "level"]) if (one[key]) one[key] = summed(one[key]);
    if (one.shape) one.unit = 1 / Math.max(...one.shape.map(([x, y]) => Math.hypot(x, y)));
    return one;
  });
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let [now, playing, before, place, rows] = [0, false, 0, 0, []];

  const bar = make("div", figure, "", { className: "bar" });
  figure.insertBefore(bar, stage);
  const button = make("button", bar, "Play", { type: "button", className: "chip play" });
  const slider = make("input", bar, "", { type: "range", min: 0, value: 0, step: "any", ariaLabel: "time" });
  const clock = make("output", bar);
  const line = make("div", figure, "", { className: "bar" });
  figure.insertBefore(line, stage);
  const choice = (label, options, chosen) => {
    const select = make("select", make("label", line, `${label} `));
    options.forEach(([value, text]) => make("option", select, text, { value, selected: value === chosen }));
    return select;
  };
  const where = choice("situation", data.places.map((name, k) => [k, name]), 0);
  const pace = choice("speed", data.paces.map((v) => [v, v === 1 ? "as it is" : `${v} ×`]), data.pace);
  const layout = choice("layout", [["over", "overlaid"], ["apart", "one above the other"]], "over");
  const chosen = data.who.map((name, k) => {
    const label = make("label", line, "", { className: data.colours[k] });
    const box = make("input", label, "", { type: "checkbox", checked: k < 2 });
    make("span", label, "", { className: "spot" });
    label.append(name);
    return box;
  });

  const drive = (who) => data.drives.find((one) => one.place === place && one.who === who);
  const shown = () => data.who.map((_, k) => k).filter((k) => chosen[k].checked && drive(k));
  const end = () => Math.max(0, ...shown().map((k) => (drive(k).frames - 1) * drive(k).step));
  const css = getComputedStyle(document.documentElement);
  const ink = (name) => css.getPropertyValue(`--${name}`).trim();
  const VIRIDIS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
  const shade = (level) => {
    const s = Math.min(Math.max(level / 25, 0), 3.999), k = Math.floor(s), part = s - k;
    const parts = [1, 3, 5].map((i) => {
      const [a, b] = [VIRIDIS[k], VIRIDIS[k + 1]].map((c) => parseInt(c.slice(i, i + 2), 16));
      return Math.round(a + (b - a) * part);
    });
    return `rgb(${parts})`;
  };
  const between = (list, at) => {
    const k = Math.min(Math.max(Math.floor(at), 0), list.length - 1), next = Math.min(k + 1, list.length - 1);
    return list[k] + (list[next] - list[k]) * Math.min(Math.max(at - k, 0), 1);
  };
  const pairs = (columns, at) => {
    const out = [];
    for (let i = 0; i < columns.length; i += 2) out.push([between(columns[i], at), between(columns[i + 1], at)]);
    return out;
  };
  const points = (one, at) => {
    if (one.still) return pairs(one.still, 0);
    if (one.free) return pairs(one.free, at);
    if (one.path) return one.path[0].map((x, k) => [x, one.path[1][k]]);
    const [x, y, turned] = one.motion.map((list) => between(list, at));
    const [c, s] = [Math.cos(turned * one.unit), Math.sin(turned * one.unit)];
    return one.shape.map(([a, b]) => [x + c * a - s * b, y + s * a + c * b]);
  };

  const trace = (g, at, closed) => {
    g.beginPath();
    at.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
    if (closed) g.closePath();
  };
  const DRAW = {
    line: (g, at) => { trace(g, at); g.stroke(); },
    trace: (g, at) => { g.lineWidth = 1.4; trace(g, at); g.stroke(); },
    polygon: (g, at) => {
      trace(g, at, true);
      if (g.globalAlpha === 1) { g.globalAlpha = 0.16; g.fill(); g.globalAlpha = 1; }
      g.stroke();
    },
    wheel: (g, [centre, rim]) => {
      g.beginPath();
      g.arc(...centre, Math.hypot(rim[0] - centre[0], rim[1] - centre[1]), 0, 7);
      g.moveTo(...centre);
      g.lineTo(...rim);
      g.stroke();
    },
    ground: (g, at, height) => {
      trace(g, [...at, [at[at.length - 1][0], 3 * height], [at[0][0], 3 * height]], true);
      g.save(); g.globalAlpha *= 0.25; g.fill(); g.restore();
      trace(g, at); g.stroke();
    },
    arrow: (g, [a, b]) => {
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]], length = Math.hypot(dx, dy);
      if (length < 1) return;
      const head = Math.min(8, length), [ux, uy] = [dx / length, dy / length];
      const wing = (side) => [b[0] - head * (ux - side * 0.5 * uy), b[1] - head * (uy + side * 0.5 * ux)];
      trace(g, [a, b]); g.stroke();
      trace(g, [b, wing(1), wing(-1)], true); g.fill();
    },
  };
  const ticks = (low, high, count) => {
    const power = 10 ** Math.floor(Math.log10((high - low) / count));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => (high - low) / s <= count);
    const out = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) out.push(Number((k * step).toPrecision(9)));
    return out;
  };

  function scale(g, view, left, bottom, k, width, height) {
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = ink("soft");
    g.strokeStyle = ink("grid");
    g.lineWidth = 1;
    for (const v of ticks(left, left + width / k, Math.max(2, width / 90))) {
      const x = (v - left) * k;
      trace(g, [[x, 0], [x, height]]); g.stroke();
      g.textAlign = "center";
      if (x > 60 && x < width - 60) g.fillText(v, x, height - 4);
    }
    for (const v of ticks(bottom, bottom + height / k, Math.max(2, height / 60))) {
      const y = height - (v - bottom) * k;
      trace(g, [[0, y], [width, y]]); g.stroke();
      g.textAlign = "left";
      if (y > 28 && y < height - 16) g.fillText(v, 3, y + 4);
    }
    g.textAlign = "right"; g.fillText(view.across, width - 4, height - 4);
    g.textAlign = "left"; g.fillText(view.up, 3, 12);
  }
  function bar_of(g, body, width) {
    const [x, y, w] = [width - 128, 16, 120];
    g.fillStyle = ink("card"); g.fillRect(x - 6, 1, w + 12, 40);
    for (let i = 0; i < w; i++) { g.fillStyle = shade((100 * i) / w); g.fillRect(x + i, y, 1.5, 8); }
    g.fillStyle = ink("soft"); g.font = "11px system-ui, sans-serif";
    g.textAlign = "right"; g.fillText(body.text, x + w, y - 4); g.fillText(body.levels[1], x + w, y + 20);
    g.textAlign = "left"; g.fillText(body.levels[0], x, y + 20);
  }
  function paint({ canvas, view: v, who }) {
    const view = data.views[v], [left, right, low, high] = view.window;
    const width = canvas.clientWidth, height = Math.max(1, (width * (high - low)) / (right - left));
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext("2d"), k = width / (right - left);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    if (!who.length) return;
    const frame = (one) => Math.min(now / one.step, one.frames - 1);
    const first = drive(who[0]), followed = first.views[v].follow;
    const [fx, fy] = followed ? pairs(pool[followed], frame(first))[0] : [0, 0];
    const [x0, y0] = [left + fx * view.grain, low + fy * view.grain];
    scale(g, view, x0, y0, k, width, height);
    // What is the same for several is drawn once, as the first one's.
    const owner = new Map();
    for (const w of who) drive(w).views[v].bodies.forEach((index, b) => { if (!owner.has(`${b} ${index}`)) owner.set(`${b} ${index}`, w); });
    who.slice().reverse().forEach((w, turn) => {
      const one = drive(w), at = frame(one), last = turn === who.length - 1;
      view.bodies.forEach((body, b) => {
        const index = one.views[v].bodies[b], coded = pool[index];
        if (owner.get(`${b} ${index}`) !== w) return;
        let found = points(coded, at);
        if (body.kind === "trace") found = found.slice(0, 2 + Math.floor((found.length - 1) * (one.frames > 1 ? at / (one.frames - 1) : 1)));
        const placed = found.map(([x, y]) => [(x * view.grain - x0) * k, height - (y * view.grain - y0) * k]);
        g.strokeStyle = g.fillStyle = body.tint === "own" ? ink(data.colours[w]) : ink(body.tint);
        g.lineWidth = body.kind === "line" ? 3 : 2;
        g.lineJoin = g.lineCap = "round";
        g.globalAlpha = last || body.tint !== "own" ? 1 : 0.75;
        if (coded.level && last) {
          g.lineWidth = 8; DRAW[body.kind](g, placed, height);
          g.strokeStyle = g.fillStyle = shade(between(coded.level[0], at)); g.lineWidth = 5;
        }
        DRAW[body.kind](g, placed, height);
        g.globalAlpha = 1;
      });
    });
    const coloured = view.bodies.find((body) => body.levels);
    if (coloured) bar_of(g, coloured, width);
  }

  function draw() {
    rows.forEach(paint);
    slider.value = now;
    clock.textContent = `${now.toFixed(2)} s`;
  }
  function build() {
    place = Number(where.value);
    const who = shown(), groups = layout.value === "over" || who.length < 2 ? [who] : who.map((k) => [k]);
    stage.replaceChildren();
    rows = groups.flatMap((group) => {
      const box = make("div", stage);
      if (groups.length > 1) make("b", box, data.who[group[0]]);
      const row = make("div", box, "", { className: "views" });
      const spans = data.views.map(({ window: [left, right, low, high] }) => [right - left, high - low]);
      const whole = spans.reduce((sum, [width]) => sum + width, 0);
      return data.views.map((view, v) => {
        const cell = make("div", row), [width, height] = spans[v];
        // One scale for all views where there is room, none of them higher than the window.
        cell.style.flex = `${width / whole} 1 ${(640 * width) / whole}px`;
        cell.style.maxWidth = `${Math.max(200, (480 * width) / height)}px`;
        const canvas = make("canvas", cell);
        make("small", cell, view.name + (view.note ? `; ${view.note}` : ""));
        return { canvas, view: v, who: group };
      });
    });
    data.who.forEach((_, k) => { chosen[k].disabled = !drive(k); });
    slider.max = end();
    now = Math.min(now, end());
    draw();
  }
  function tick(stamp) {
    if (!playing) return;
    // Who asked for less motion gets four frames a second.
    if (!calm.matches || stamp - before > 250) {
      now += (Math.min(Math.max(stamp - before, 0), 300) / 1000) * Number(pace.value);
      if (now > end()) now = 0;
      before = stamp;
      draw();
    }
    requestAnimationFrame(tick);
  }
  function play(on) {
    playing = on;
    button.firstChild.textContent = on ? "Pause" : "Play";
    before = performance.now();
    if (on) requestAnimationFrame(tick);
  }
  button.addEventListener("click", () => play(!playing));
  slider.addEventListener("input", () => { play(false); now = Number(slider.value); draw(); });
  for (const one of [where, layout, ...chosen]) one.addEventListener("change", build);
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  figure.querySelector(".still").hidden = true;
  stage.hidden = false;
  const asked = /[#&]t=([\d.]+)/.exec(location.hash);
  now = asked ? Number(asked[1]) : 0;
  build();
}
