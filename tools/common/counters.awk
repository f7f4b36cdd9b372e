# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# docs/reference/counters.md as { "NAME", "what it counts" } of C, the tables of
# counters of VI NICs: the text is the last column, behind the words of its head
# where that is not "counts".
/^## The card/ { exit }
/^\| counter / {
	before = $0
	sub(/ *\|$/, "", before)
	sub(/.*\| */, "", before)
	before = before == "counts" ? "" : before " "
	next
}
/^\| [a-z_]+ \|/ {
	name = $2
	text = $0
	sub(/ *\|$/, "", text)
	sub(/.*\| */, "", text)
	gsub(/`/, "", text)
	gsub(/["\\]/, "\\\\&", text)
	printf "{ \"%s\", \"%s%s\" },\n", name, before, text
}
