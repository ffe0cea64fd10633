"""One task with three tools: python-control, do-mpc and this project; prints the table of docs/guide/beside.md.

As in::

    python docs/examples/beside.py              # a minute or two; do-mpc 5 is wanted for its rows (pip install do-mpc)

The task: the Van der Pol oscillator, command within 20 N, from rest to rest, in four noise-free runs of 10 s, of which
one has another plant than all designs believed in.
"""

import tempfile
import time
import warnings
from importlib.util import find_spec

import control
import numpy as np
from scipy.optimize import minimize

import controllers
import flcs
import plants
import sscq
from plants.adapters.python_control import to_control

PLANT = plants.get("van_der_pol")
STEP, LIMIT = 0.01, 20.0
SITUATIONS = (
    sscq.Situation(name="0 to 1 m", reference=1.0, initial=(0.0, 0.0), t_end=10.0),
    sscq.Situation(name="2 to 0 m", reference=0.0, initial=(2.0, 0.0), t_end=10.0),
    sscq.Situation(name="1.5 to -1.5 m", reference=-1.5, initial=(1.5, 0.0), t_end=10.0),
    sscq.Situation(name="0 to 1 m, mu = 3", reference=1.0, initial=(0.0, 0.0), t_end=10.0, parameters={"mu": 3.0}),
)


def linear_design():
    """Gains with python-control: linearised at the origin, least IAE of a step with Ms of at most 1.8."""
    model = control.tf(control.ss2tf(to_control(PLANT).linearize([0.0, 0.0], [0.0, 0.0])[0, 0]))
    s = control.tf("s")
    times = np.linspace(0.0, 10.0, 1001)

    def cost(logs):
        kp, ki, kd = np.exp(logs)
        loop = model * (kp + ki / s + kd * s / (1.0 + 0.01 * s))
        closed = control.feedback(loop, 1)
        if max(closed.poles().real) >= 0.0:
            return 1e3
        sensitivity = np.abs(control.feedback(1, loop)(1j * np.logspace(-2, 3, 400))).max()
        commands = control.step_response(control.feedback(loop / model, model), times).outputs
        broken = max(sensitivity - 1.8, 0.0) + max(np.abs(commands[10:]).max() - LIMIT, 0.0)
        return np.trapezoid(np.abs(1.0 - control.step_response(closed, times).outputs), times) + 10.0 * broken

    return np.exp(minimize(cost, np.log([8.0, 2.0, 4.0]), method="Nelder-Mead", options={"maxfev": 150}).x)


def predictive(price, model_step=0.05, horizon=20):
    """A model predictive controller with do-mpc: the nominal equations, a second ahead, a price on squared moves."""
    import do_mpc

    model = do_mpc.model.Model("continuous")
    q, v = model.set_variable("_x", "q"), model.set_variable("_x", "v")
    u = model.set_variable("_u", "u")
    target = model.set_variable("_tvp", "target")
    model.set_rhs("q", v)
    model.set_rhs("v", (1.0 - q**2) * v - q + u)
    model.setup()
    mpc = do_mpc.controller.MPC(model)
    mpc.set_param(n_horizon=horizon, t_step=model_step, store_full_solution=False)
    mpc.settings.supress_ipopt_output()
    mpc.set_objective(mterm=(q - target) ** 2 + 0.1 * v**2, lterm=(q - target) ** 2)
    mpc.set_rterm(u=price)
    mpc.bounds["lower", "_u", "u"], mpc.bounds["upper", "_u", "u"] = -LIMIT, LIMIT
    wanted = {"target": 0.0}
    template = mpc.get_tvp_template()

    def ahead(_):
        template["_tvp", :, "target"] = wanted["target"]
        return template

    mpc.set_tvp_fun(ahead)
    mpc.setup()
    return mpc, wanted, model_step


def run_predictive(mpc, wanted, model_step):
    """IAE and travel in each situation, and the mean processor time of a solution [ms]."""
    rows, spent, count = [], 0.0, 0
    for situation in SITUATIONS:
        state, iae, travel, before = np.array(situation.initial), 0.0, 0.0, 0.0
        wanted["target"] = situation.reference
        mpc.reset_history()
        mpc.x0 = state.reshape(-1, 1)
        mpc.set_initial_guess()
        for _ in range(round(situation.t_end / model_step)):
            begun = time.process_time()
            command = float(mpc.make_step(state.reshape(-1, 1))[0, 0])
            spent, count = spent + time.process_time() - begun, count + 1
            held = plants.simulate(
                PLANT, model_step, STEP, tuple(state), situation.parameters, inputs={"force": command}
            )
            iae += np.abs(situation.reference - held["position"][:-1]).sum() * STEP
            travel, before, state = travel + abs(command - before), command, held.states[-1]
        rows.append((iae, travel))
    return np.array(rows), 1e3 * spent / count


def row(name, iae, travel):
    """A row of the table."""
    cells = " | ".join(f"{one:.3f}, {other:.0f}" for one, other in zip(iae, travel, strict=True))
    print(f"| {name} | {cells} |")


def main():
    """Design with each tool, run all in the same situations, print the table."""
    print(f"| controller | {' | '.join(situation.name for situation in SITUATIONS)} |")
    print(f"|---|{'---|' * len(SITUATIONS)}")
    gains = linear_design()
    quality = sscq.evaluate(PLANT, controllers.PID(), gains, SITUATIONS, step=STEP)
    name = "python-control: kp {:.3g}, ki {:.3g}, kd {:.3g}".format(*gains)
    row(name, quality.iae[:, 0], quality.total_variation[:, 0])
    for price in (1e-4, 3e-3) if find_spec("do_mpc") else ():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of CasADi's deprecations
            mpc = predictive(price)
            rows, spent = run_predictive(*mpc)
        row(f"do-mpc, moves at {price:g}; {spent:.0f} ms a command", *rows.T)
    result = sscq.design(PLANT, budget="small", folder=f"{tempfile.mkdtemp()}/run")
    (pid,) = result.controllers["fixed"].gains
    fixed = (pid.kp, pid.ki, pid.kd)
    quality = sscq.evaluate(PLANT, controllers.PID(), fixed, SITUATIONS, step=STEP)
    name = "here, fixed: kp {:.3g}, ki {:.3g}, kd {:.3g}".format(*fixed)
    row(name, quality.iae[:, 0], quality.total_variation[:, 0])
    quality = sscq.evaluate(PLANT, flcs.FuzzyController(result.knowledge_base), None, SITUATIONS, step=STEP)
    row(f"here, recommended: {result.recommended}", quality.iae[:, 0], quality.total_variation[:, 0])


if __name__ == "__main__":
    main()
