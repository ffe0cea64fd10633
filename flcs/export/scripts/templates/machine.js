/* ${text}.
 * One sample every ${sample}; double precision; ${count} numbers of state; no dependencies.
 *
 *   const machine = new ${name}();
 *   const outputs = machine.step({ ...inputs by name });   // an input left out keeps its last value
 *   machine.reset();
 *
 * In a page: a script element with src="${name}.js". In Node: const ${name} = require("./${name}.js");
 */
"use strict";
var ${name} = (function () {
${power}
${functions}

  const START = new Float64Array([${start}]);
  const PLACES = { ${places} };

  class Machine {
    constructor() {
      this.memory = new Float64Array(START.length);
      this.reset();
    }

    /** Back to before the first sample. */
    reset() {
      this.memory.set(START);
      this.sample = 0;
    }

    /** A number of the memory by its name: an input, an output or a state. */
    get(slot) { return this.memory[place(slot)]; }
    set(slot, value) { this.memory[place(slot)] = value; }

    /** The parts, one by one; step runs them in their order. */
${methods}

    /** One sample: inputs by name to outputs by name. */
    step(inputs) {
      const m = this.memory;
${receive}
${calls}
      this.sample = (this.sample + 1) % ${period};
      return this.outputs();
    }

    /** The outputs of the last sample, by name. */
    outputs() {
      const m = this.memory;
      return {
${given},
      };
    }
  }

  function place(slot) {
    if (!Object.prototype.hasOwnProperty.call(PLACES, slot)) throw new Error("${name} has no slot " + slot);
    return PLACES[slot];
  }

  // units, ranges (null: no limit), text
  Machine.inputs = [
${inputs},
  ];
  Machine.outputs = [
${outputs},
  ];
  Machine.slots = Object.keys(PLACES);
  Machine.sampleTime = ${sample_time}; // s
  return Machine;
})();
if (typeof module === "object" && module.exports) module.exports = ${name};
