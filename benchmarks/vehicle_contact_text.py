"""What the page on the vehicle's contact says of both laws, with the constants that the blocks compute."""

from __future__ import annotations

from plants.balancing_vehicle.parameters import GRAVITY
from plants.contact.mean_gap import PENETRATION, PENETRATION_FROM_ABOVE, RESTITUTION, RESTITUTION_FROM_ABOVE

MASS = 12.0  # kg, of the vehicle
_SHIFT = 1e3 * 0.5e-3 * MASS * GRAVITY  # mJ, at 1 ms and 1 m/s

LAWS = f"""\
# The balancing vehicle's contact with the ground

Written by `python -m benchmarks.vehicle_contact_page`. Two laws say what load f a wheel carries; each is a plant:

| | `balancing_vehicle` | `balancing_vehicle_rigid` |
|---|---|---|
| law | 0 <= f, mean gap over a time h >= 0, one of them 0 | 0 <= f, gap at the step's end >= 0, one of them 0 |
| to the order kept | delta + (h/2) delta' + (h^2/6) delta'' | delta(q + dt u) + dt^2 (A f + d) |
| time | h: `averaging`, 5 ms; at least 2.5 steps | the step dt |
| equations of motion | the same law | the mean's, for wheels on the ground (within 0.01 mm) |
| an open gap has no force | beyond h v / 2 of a wheel that comes with speed v | where the step ends open |
| no deeper than | {PENETRATION:.4f} h v | terms of the third order of dt |
| rebound from above | {RESTITUTION_FROM_ABOVE:.4f} v, in steps less | none |
| energy | its rebound is given back; see below | never given on even ground; see below |

`plants.balancing_vehicle.on_rigid_ground(plant, name)` makes a rigid copy of any vehicle with slip.
`plants.balancing_vehicle.variable_step.run(..., law="end")` is the reference path with it: one run at a time, with a
step that adapts. In lanes both laws have a fixed step and six passes. Blocks for other plants: `plants.contact`
(`averaged` and `at_end`; `two_contacts`, `enumerated` and `scaled` to solve).

## Why a mean gap pushes open gaps

A force that keeps the mean over the next h from falling below 0 must act before the gap is shut: without acceleration
the mean is 0 at delta = -h delta' / 2. That is what makes the stop smooth, since the force grows from 0 there. A body
that comes from above is an oscillator (natural frequency sqrt(6)/h, damping ratio zeta = sqrt(6)/4) that starts where
its acceleration is 0 and leaves where it is 0 again, half a period later:

- it rebounds with exp(-pi zeta / sqrt(1 - zeta^2)) = {RESTITUTION_FROM_ABOVE:.4f} of its speed, and
- goes in by exp(-zeta (pi - acos zeta) / sqrt(1 - zeta^2)) / sqrt(6) = {PENETRATION_FROM_ABOVE:.4f} h v.

A body that meets the law only at gap 0, by its initial state or in the equations of rigid contact, is stopped by a
force that begins with 3 m v / h: it rebounds with {RESTITUTION:.4f} of its speed and goes in by {PENETRATION:.4f} h v.
Rebounds are below 1 for every h. Over a bump the force works on ground that rises meanwhile, and the step takes the
ground at its beginning: what that gives for a moment is measured below.

## Why the gap at the end gives no energy

Let M be the masses, F a weight, J the gaps' lines of action, all constant, and u+ = u + dt M^-1 (F + J' f),
q+ = q + dt u+, with 0 <= f, delta+ >= 0 and f delta+ = 0. Then

    E+ - E = (u+ - u)' M u+ - (u+ - u)' M (u+ - u) / 2 - dt F' u+
           = dt f' J u+ - (u+ - u)' M (u+ - u) / 2
           = -f' delta - (u+ - u)' M (u+ - u) / 2

since dt J u+ = delta+ - delta and f delta+ = 0. With delta >= 0 before the step nothing on the right is positive: no
step gives energy, whatever dt, the number of contacts and the speeds. Friction adds -dt f mu' v+ with v+ the slip at
the end of the step, in which the step is implicit. `tests/plants/test_contact.py` holds this balance to rounding.

What the proof leaves out, for this vehicle:

- **Heights belong half a step later than velocities.** q+ = q + dt u+ is the scheme of Stoermer and Verlet with
  velocities between the places. The energy of one record, with both as they stand, differs from that of one instant
  by dt m g v_z / 2: {_SHIFT:.0f} mJ at 1 ms and 1 m/s upwards. It comes back as the body falls. The column "half a step
  back" takes the heights where the velocities are.
- **Curved ground.** On a curvature c that does not change, delta+ = 0 makes the rates of the gap before and after a
  step, along the lines of action at its beginning, opposite (dt c v^2 / 2): the force does no work. Where c begins,
  the rate before is 0, and m dt^2 a (g + a / 2) / 4 is given, a = c v^2: of second order, once a bump.
- **Masses that depend on the place**, since the platform pitches on its axle: errors of free flight, of first order
  and either sign, with any contact.
"""
