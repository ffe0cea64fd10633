"""The full car: seven degrees of freedom on four independent swing-arm suspensions with adjustable dampers.

A body hangs on four corners i, ii, iii, iv = front left, front right, rear left, rear right; x forward, y left, z up.
A reference point of the body moves only vertically (z0); the body pitches by beta about y and rolls by alpha about
its pitched axis. At each corner an arm turns by theta in the transverse plane of its axle, a strut with spring,
damper and active force stands on the arm, and the wheel, which does not turn with the arm, stands on the road.

Source: the model of Fig. 8 of US 2004/0039555 A1 (equations 2.1 to 2.126), derived anew in minimal coordinates.
"""

from plants.suspension.model import SUSPENSION, suspension
from plants.suspension.motion import equilibrium

__all__ = ["SUSPENSION", "equilibrium", "suspension"]
