function g = ${name}_lookup(t, x)
%${name}_LOOKUP  Gains [n, gains] of one channel at its inputs x [n, inputs]; t: an entry of ${name}_tables().
%   Outside the taught ranges the gains return to the reference gains over t.fade ranges.
n = numel(t.axes);
inside = x;
outside = zeros(size(x, 1), 1);
for k = 1:n
    low = t.axes{k}(1);
    high = t.axes{k}(end);
    inside(:, k) = min(max(x(:, k), low), high);
    outside = outside + abs(x(:, k) - inside(:, k)) / (t.fade * (high - low));
end
weight = max(1 - outside, 0);
g = zeros(size(x, 1), numel(t.gains));
places = mat2cell(inside, size(x, 1), ones(1, n));
for k = 1:numel(t.gains)
    if n == 1
        values = interp1(t.axes{1}(:), t.gains{k}(:), inside);
    else
        values = interpn(t.axes{:}, t.gains{k}, places{:});
    end
    led = t.reference(k) + weight .* (values - t.reference(k));
    g(:, k) = min(max(led, t.low(k)), t.high(k));
end
end
