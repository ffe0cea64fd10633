"""What the parts' own turning gives to the equations of motion; inertia in roll axes, the turntable's in body axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plants.unicycle.pose import PITCH, ROLL, TABLE, WHEEL, YAW

if TYPE_CHECKING:
    from plants.unicycle.pose import Numbers, Part, Pose


class Tensor(NamedTuple):
    """Inertia about the roll axes x and z, and its product; about y it is the part's own."""

    x: Any
    z: Any
    xz: Any


def tensor(part: Part) -> Tensor:
    """Return the inertia of a part in roll axes: its own, turned by its pitch."""
    sine, cosine, own = part.sine, part.cosine, part.inertia
    ss, cc = sine * sine, cosine * cosine
    return Tensor(cc * own.x + ss * own.z, ss * own.x + cc * own.z, (own.z - own.x) * (sine * cosine))


def turning_inertia(at: Pose, part: Part) -> dict[tuple[int, int], Any]:
    """What the turning of a part gives to M: angular velocity (gamma', alpha' sin g + phi', alpha' cos g)."""
    moments, own = tensor(part), part.inertia.y
    sine, cosine, (by_pitch, by_wheel) = at.sin_roll, at.cos_roll, part.turn_by
    return {
        (YAW, YAW): cosine * cosine * moments.z + sine * sine * own,
        (YAW, ROLL): cosine * moments.xz,
        (YAW, PITCH): sine * (own * by_pitch),
        (YAW, WHEEL): sine * (own * by_wheel),
        (ROLL, ROLL): moments.x,
        (PITCH, PITCH): own * by_pitch * by_pitch,
        (PITCH, WHEEL): own * by_pitch * by_wheel,
        (WHEEL, WHEEL): own * by_wheel * by_wheel,
    }


def turning_bias(at: Pose, part: Part, moments: Tensor) -> tuple[Any, Any, Any]:
    """What the turning of a part demands at rates that stay, about roll axes: dL/dt + omega x L, the axes' omega."""
    own, yaw, roll = part.inertia.y, at.rates[YAW], at.rates[ROLL]
    up, about = yaw * at.cos_roll, yaw * at.sin_roll
    down = -(about * roll)
    first = moments.x * roll + moments.xz * up
    second = own * (about + part.turn)
    third = moments.xz * roll + moments.z * up
    swing, stretch = 2.0 * moments.xz * part.turn, (moments.z - moments.x) * part.turn
    along = swing * roll + stretch * up + moments.xz * down + about * third - up * second
    across = own * (roll * up + part.turn_bias) + up * first - roll * third
    upward = stretch * roll - swing * up + moments.z * down + roll * second - about * first
    return along, across, upward


def turning_moments(at: Pose, part: Part) -> Numbers:
    """What the turning of a part demands at rates that stay [5]."""
    along, across, upward = turning_bias(at, part, tensor(part))
    by_pitch, by_wheel = part.turn_by
    return at.sin_roll * across + at.cos_roll * upward, along, by_pitch * across, by_wheel * across, 0.0


class Table(NamedTuple):
    """The turntable's inertia in body axes, and what its columns of angular velocity are there."""

    x: Any
    y: Any
    xy: Any
    yaw: tuple[Any, Any, Any]
    roll: tuple[Any, Any]


def _table(at: Pose) -> Table:
    sine, cosine, own = at.sin_table, at.cos_table, at.robot.IT
    ss, cc = sine * sine, cosine * cosine
    yaw = (-(at.sin_pitch * at.cos_roll), at.sin_roll, at.cos_pitch * at.cos_roll)
    return Table(
        cc * own.x + ss * own.y, ss * own.x + cc * own.y, (own.x - own.y) * (sine * cosine), yaw,
        (at.cos_pitch, at.sin_pitch),
    )  # fmt: skip


def table_inertia(at: Pose) -> dict[tuple[int, int], Any]:
    """What the turning of the turntable gives to M."""
    table, axis = _table(at), at.robot.IT.z
    (a, b, c), (rx, rz) = table.yaw, table.roll
    x, y = table.x * a + table.xy * b, table.xy * a + table.y * b
    return {
        (YAW, YAW): x * a + y * b + axis * c * c,
        (YAW, ROLL): x * rx + axis * c * rz,
        (YAW, PITCH): y,
        (YAW, TABLE): axis * c,
        (ROLL, ROLL): table.x * rx * rx + axis * rz * rz,
        (ROLL, PITCH): table.xy * rx,
        (ROLL, TABLE): axis * rz,
        (PITCH, PITCH): table.y,
        (TABLE, TABLE): axis,
    }


def table_moments(at: Pose) -> Numbers:
    """What the turning of the turntable demands at rates that stay [5]; its inertia turns with eta."""
    table, axis, spin = _table(at), at.robot.IT.z, at.rates[TABLE]
    yaw, roll, pitch = at.rates[YAW], at.rates[ROLL], at.rates[PITCH]
    (ya, yb, yc), (rx, rz) = table.yaw, table.roll
    a, b, c = ya * yaw + rx * roll, yb * yaw + pitch, yc * yaw + rz * roll
    down = -(yaw * at.sin_roll * roll)
    a_rate, b_rate, c_rate = -(pitch * c) - rz * down, roll * yaw * at.cos_roll, pitch * a + rx * down
    first, second, third = table.x * a + table.xy * b, table.xy * a + table.y * b, axis * (c + spin)
    apart = table.x - table.y
    along = table.x * a_rate + table.xy * b_rate + spin * (apart * b - 2.0 * table.xy * a) + b * third - c * second
    across = table.xy * a_rate + table.y * b_rate + spin * (apart * a + 2.0 * table.xy * b) + c * first - a * third
    upward = axis * c_rate + a * second - b * first
    return ya * along + yb * across + yc * upward, rx * along + rz * upward, across, 0.0, upward
