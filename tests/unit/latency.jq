# SPDX-License-Identifier: GPL-2.0-only
#
# What the key "latency" of the JSON report says, for test_output.c and soak.test:
# a line for each histogram with its numbers, and whether its buckets, each with a
# lower bound in ns and a count, are in order, add up to the count, and give the same
# percentiles.  A histogram without values has no percentiles but a reason.

def at($rank; $count):
	. as $buckets |
	(($count * $rank / 10000) | ceil | if . < 1 then 1 else . end) as $want |
	reduce .[] as $b ({seen: 0, found: null};
		if .found == null and .seen + $b[1] >= $want then .found = $b[0] else . end |
		.seen += $b[1]) |
	.found;

.latency | to_entries[] | .key as $name | .value |
(.buckets | map(.[0])) as $lower |
"\($name) \(.unit) count=\(.count) missing=\(.missing) overflow=\(.overflow) " +
if .count == 0 then
	"\(.reason), \(keys_unsorted | join(" "))"
else
	"p50=\(.p50) p90=\(.p90) p99=\(.p99) p99.9=\(."p99.9") max=\(.max) " +
	(if (.buckets | map(.[1]) | add) != .count then "buckets do not add up"
	elif $lower != ($lower | unique) then "buckets are out of order"
	elif [.p50, .p90, .p99, ."p99.9"] != [.count as $n | .buckets |
		at(5000; $n), at(9000; $n), at(9900; $n), at(9990; $n)]
	then "percentiles are not those of the buckets"
	elif ."p99.9" > .max or .max < $lower[-1] or .max > $lower[-1] * 1.01 + 1
	then "max is not in the last bucket"
	else "right" end)
end
