# SPDX-License-Identifier: GPL-2.0-only
#
# From the lines of tests/bench/compare.guest: the table, what was needed and
# whether it was reached, and the JSON.  Exits 1 when something was not reached, 5
# when the counts cannot be believed.

BEGIN {
	# the functions that move a batch, on the kernels known so far
	kind_of["lru_add"] = "lru_add"
	kind_of["lru_add_fn"] = "lru_add"
	kind_of["lru_activate"] = kind_of["folio_activate_fn"] = "activate"
	kind_of["lru_deactivate"] = kind_of["lru_deactivate_fn"] = "deactivate"
	kind_of["lru_deactivate_file"] = "deactivate_file"
	kind_of["lru_deactivate_file_fn"] = "deactivate_file"
	kind_of["lru_lazyfree"] = kind_of["lru_lazyfree_fn"] = "lazyfree"
	kind_of["lru_move_tail"] = kind_of["lru_move_tail_fn"] = "rotate"
	kind_of["mlock"] = "mlock"
	kinds = split("lru_add activate deactivate deactivate_file lazyfree rotate mlock",
		      kind, " ")
	NEEDED_LEVEL = 100	# batches of each size and kind in a minute
}

function fail(text)
{
	print "bench: " text
	broken = 1
	exit 5
}

$1 == "probe" { probed[$2] = $3 }

$1 == "window" {
	if ($2 in ms)
		fail($2 " was measured twice")
	order[++n] = $2
	threads[$2] = $3
	ms[$2] = $4
	if ($4 <= 0)
		fail($2 " was measured for no time")
}

$1 == "hits" {
	hits[$2, $3] = $4
	missed[$2] += $5
}

$1 == "moved" && $3 == "dropped" { fail("a histogram of " $4 " is too small") }

$1 == "moved" && $3 == "fallocate" {
	# FALLOC_FL_PUNCH_HOLE
	if (int($4 / 2) % 2)
		punched[$2] += $5
	next
}

$1 == "moved" && $4 > 0 {
	if (!($3 in kind_of))
		fail("no kind of batch is known that " $3 " moves")
	k = kind_of[$3]
	if ($4 > size)
		size = $4
	count[$2, k, $4] += $5
	batches[$2] += $5
	folios[$2] += $4 * $5
	if (!(($2, k) in seen))
		moved_kinds[$2]++
	seen[$2, k] = 1
}

$1 == "pages" { pages[$2] = $3 }

$1 == "profile" {
	if ($3 == "all")
		all[$2] = $4
	else {
		profile[$2] = profile[$2] (profile[$2] == "" ? "" : " ") $3 " " $4
	}
}

function rate(count, who)
{
	return count * 1000 / ms[who]
}

function truncates(who)
{
	return rate(hits[who, "truncate"] + punched[who], who)
}

function between(who, least, most,    i, j, sum)
{
	for (i = 1; i <= kinds; i++)
		for (j = least; j <= most; j++)
			sum += count[who, kind[i], j]
	return rate(sum, who)
}

# Levels of all kinds that were moved often enough, scaled to a minute.
function levels(who,    i, j, sum)
{
	for (i = 1; i <= kinds; i++)
		for (j = 1; j <= size; j++)
			sum += (count[who, kind[i], j] * 60000 / ms[who] >= NEEDED_LEVEL)
	return sum + 0
}

function row(who)
{
	printf "%-20s %5d %9.0f %9.0f %7.2f %9.0f %7.2f %8.0f %8.0f %8.0f %8.0f %6d %4d/%d\n",
		who, threads[who], rate(hits[who, "drain"], who), truncates(who),
		(plain ? truncates(who) / plain : 0), rate(folios[who], who),
		(best ? rate(folios[who], who) / best : 0),
		between(who, 1, 1), between(who, 2, int(size / 2)),
		between(who, int(size / 2) + 1, size - 1), between(who, size, size),
		moved_kinds[who], levels(who), kinds * size
}

function needed(what, value, least)
{
	printf "%-66s %7.2f  needed %6.2f  %s\n", what, value, least,
		(value >= least ? "ok" : "NOT REACHED")
	if (value < least)
		lacking++
	verdicts = verdicts sprintf("%s\n    {\"what\": \"%s\", \"value\": %.3f, \"needed\": %s, \"reached\": %s}",
		(verdicts == "" ? "" : ","), what, value, least,
		(value >= least ? "true" : "false"))
}

# The most threads against the best of the steps.  Truncates must not collapse;
# folios moved are told only, because the race leaves CPUs to more threads.
function steps_of(what,    i, who, top, top_folios, last)
{
	for (i = 1; i <= n; i++) {
		who = order[i]
		if (who !~ "^" what "-[0-9]+$")
			continue
		if (truncates(who) > top)
			top = truncates(who)
		if (rate(folios[who], who) > top_folios)
			top_folios = rate(folios[who], who)
		if (last == "" || threads[who] > threads[last])
			last = who
	}
	if (last == "")
		return
	needed(what ": truncates/s with " threads[last] " threads / best of all steps",
	       top ? truncates(last) / top : 0, 0.7)
	printf "%-66s %7.2f  for information\n",
		what ": folios moved/s with " threads[last] " threads / best of all steps",
		(top_folios ? rate(folios[last], last) / top_folios : 0)
}

function others(who)
{
	return who == "plain" || who == "fio" || who ~ /^stress-ng/
}

function write_json(    i, j, l, who, sep)
{
	printf "{\n  \"kernel\": \"%s\",\n  \"cpus\": %d,\n  \"batch_size\": %d,\n  \"probes\": {",
		kernel, cpus, size >json
	for (i in probed) {
		printf "%s\"%s\": \"%s\"", sep, i, probed[i] >json
		sep = ", "
	}
	printf "},\n  \"needed\": [%s\n  ],\n  \"contenders\": {", verdicts >json
	for (i = 1; i <= n; i++) {
		who = order[i]
		printf "%s\n    \"%s\": {\"workers\": %d, \"seconds\": %.2f, \"truncates\": %d, \"folios_moved\": %d, \"batches_moved\": %d, \"drain_calls\": %d, \"missed\": %d,\n      \"by_size\": {",
			(i > 1 ? "," : ""), who, threads[who], ms[who] / 1000,
			hits[who, "truncate"] + punched[who], folios[who], batches[who],
			hits[who, "drain"], missed[who] >json
		for (j = 1; j <= kinds; j++) {
			printf "%s\n        \"%s\": [", (j > 1 ? "," : ""), kind[j] >json
			for (l = 1; l <= size; l++)
				printf "%s%d", (l > 1 ? ", " : ""), count[who, kind[j], l] >json
			printf "]" >json
		}
		printf "}}" >json
	}
	printf "\n  }\n}\n" >json
	close(json)
}

END {
	if (broken)
		exit 5
	if (!n)
		fail("nothing was measured")
	if ("plain" in ms)
		plain = truncates("plain")
	for (i = 1; i <= n; i++) {
		if (others(order[i]) && rate(folios[order[i]], order[i]) > best)
			best = rate(folios[order[i]], order[i])
		total += missed[order[i]]
	}
	if (("plain" in pages) && ("truncate" in pages) && pages["plain"] != pages["truncate"])
		fail("the plain loop's files have up to " pages["plain"] \
		     " pages, the flood's " pages["truncate"])
	printf "%s, %d CPUs, %d workers, batches of %d; a second:\n", kernel, cpus, workers, size
	printf "%-20s %5s %9s %9s %7s %9s %7s %8s %8s %8s %8s %6s %s\n", "", "work", "drain",
		"trun-", "/plain", "folios", "/best", "batches", "2 to", "to one", "full",
		"kinds", "levels"
	printf "%-20s %5s %9s %9s %7s %9s %7s %8s %8s %8s %8s %6s %s\n", "", "ers", "calls",
		"cates", "loop", "moved", "other", "of 1", "half", "less", "", "moved",
		"reached"
	for (i = 1; i <= n; i++)
		row(order[i])
	print ""
	print "hits that the probes missed: " total + 0
	for (i = 1; i <= n; i++)
		if (order[i] in all)
			print "kernel ticks of " order[i] ": " all[order[i]] " in all; " profile[order[i]]
	if (("soak" in ms) && best)
		needed("soak: folios moved/s / best of the others", rate(folios["soak"], "soak") / best, 3)
	if ("soak" in ms)
		needed("soak: sizes x kinds moved at least " NEEDED_LEVEL " times a minute",
		       levels("soak"), kinds * size)
	if (("truncate" in ms) && plain)
		needed("truncate: truncates/s / plain loop", truncates("truncate") / plain, 1.5)
	steps_of("truncate")
	steps_of("soak")
	write_json()
	exit lacking > 0
}
