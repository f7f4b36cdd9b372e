# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# A man page with the examples that it names, by lines of the form
#	.\" example: hello.c
# awk -v dir=examples -f examples/man.awk PAGE
/^\.\\" example: / {
	file = dir "/" $3
	print ".nf"
	status = (getline line <file)
	while ((status = (getline line <file)) > 0) {
		gsub(/\\/, "\\e", line)
		if (line ~ /^[.']/)
			line = "\\&" line
		gsub(/-/, "\\-", line)
		print line
	}
	if (status < 0) {
		print file ": cannot be read" >"/dev/stderr"
		exit 1
	}
	close(file)
	print ".fi"
	next
}
{ print }
