// A closed loop of two machines: plant and controller, joined by the names of their signals.
"use strict";

// A series [row][column]: constant columns are one number.
function series(packed) {
  const columns = packed.map((column) => {
    if (typeof column === "number") return () => column;
    const bytes = Uint8Array.from(atob(column), (letter) => letter.charCodeAt(0));
    const values = new Float64Array(bytes.buffer);
    return (k) => values[Math.min(k, values.length - 1)];
  });
  return (k, column) => columns[column](k);
}

// scene: name, samples, delay, state, parameters, references, disturbances, noise, outputs (series once read)
function unpacked(scene) {
  const read = { ...scene };
  for (const name of ["references", "disturbances", "noise", "outputs"]) read[name] = series(scene[name]);
  return read;
}

// change: authority, gains (factors by name), parameters (factors by name), reference (factor), shift (by output),
// disturbance (factor); left out, nothing is changed
function closedLoop(Plant, Controller, about, scene, change = {}) {
  const plant = new Plant();
  const controller = new Controller();
  const [p, c] = [plant.memory, controller.memory];
  const places = (Machine, names) => names.map((name) => Machine.slots.indexOf(name));
  const n = scene.samples;
  const table = (names) => Object.fromEntries(names.map((name) => [name, new Float64Array(n)]));
  const taken = {
    time: new Float64Array(n), left: null, // left: when it left the region where the model holds [s]
    references: table(about.outputs), outputs: table(about.measurements), commands: table(about.outputs),
    gains: table(about.gains),
  };
  // From a slot of one machine to a column that is kept.
  const kept = (Machine, slots, columns) => places(Machine, slots).map((place, j) => [place, Object.values(columns)[j]]);
  const measured = kept(Plant, about.measurements, taken.outputs);
  const gains = kept(Controller, about.gains.map((name) => `gain_${name}`), taken.gains);
  const commands = kept(Controller, about.outputs.map((name) => `command_${name}`), taken.commands);
  const commanded = places(Plant, about.outputs.map((name) => `command_${name}`));
  const driven = places(Plant, about.inputs);
  const disturbed = places(Plant, about.disturbances);
  const seen = places(Plant, about.seen);
  const inside = Plant.slots.indexOf("inside");

  about.states.forEach((slot, j) => plant.set(slot, scene.state[j]));
  about.parameters.forEach((slot, j) => plant.set(slot, scene.parameters[j] * (change.parameters?.[slot] ?? 1)));
  about.gains.forEach((name) => controller.set(`scale_${name}`, change.gains?.[name] ?? 1));
  const inputs = { authority: change.authority ?? 1 };
  const disturb = (step) => disturbed.forEach((place, j) => {
    const w = scene.disturbances(step, j);
    p[place] = change.disturbance === undefined ? w : about.rest[j] + change.disturbance * (w - about.rest[j]);
  });
  // Dead time of the inputs: whole steps, and a share of one that mixes the two neighbours.
  const [whole, share] = scene.delay;
  const sent = about.inputs.map(() => new Float64Array(n)); // in each sample
  const ago = (j, step) => (step < 0 ? about.inputRest[j] : sent[j][Math.floor(step / about.steps)]);
  const deliver = (step) => driven.forEach((place, j) => {
    const newer = ago(j, step - whole);
    p[place] = share > 0 ? newer + share * (ago(j, step - whole - 1) - newer) : newer;
  });

  for (let k = 0; k < n; k++) {
    disturb(k * about.steps);
    plant.look();
    about.outputs.forEach((name, j) => {
      const r = scene.references(k, j);
      inputs[`r_${name}`] = (change.reference === undefined ? r : change.reference * r) + (change.shift?.[name] ?? 0);
      taken.references[name][k] = inputs[`r_${name}`];
    });
    about.seen.forEach((name, j) => { inputs[name] = p[seen[j]] + scene.noise(k, j); });
    for (const [place, column] of measured) column[k] = p[place];
    controller.step(inputs);
    for (const [place, column] of gains) column[k] = c[place];
    commands.forEach(([place, column], j) => { column[k] = p[commanded[j]] = c[place]; });
    plant.allocate();
    driven.forEach((place, j) => { sent[j][k] = p[place]; });
    for (let j = 0; j < about.steps; j++) {
      const step = k * about.steps + j;
      if (j > 0) disturb(step);
      deliver(step);
      plant.move();
    }
    taken.time[k] = k * about.sampleTime;
    if (taken.left === null && !(p[inside] > 0)) taken.left = taken.time[k];
  }
  return taken;
}

// Largest difference to what the compiled simulation gave, as a share of each signal's range over all situations.
function agreement(about, scene, run) {
  const found = {};
  about.compared.forEach((name, j) => {
    let largest = 0;
    for (let k = 0; k < scene.samples; k++) {
      const difference = Math.abs(run.outputs[name][k] - scene.outputs(k, j));
      largest = difference <= largest ? largest : difference; // a NaN stays
    }
    found[name] = largest / about.spans[j];
  });
  return found;
}
if (typeof module === "object" && module.exports) module.exports = { unpacked, closedLoop, agreement };
