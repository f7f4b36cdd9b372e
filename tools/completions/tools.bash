# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# bash completion for viainfo(8), viaping(8), viastat(8), vipl_lat(1), vipl_bw(1),
# viaplot(1) and via-bind(8). Options are those of the program's own --help, and
# the kind of their argument is its name there.

# Lines "OPTION ARGUMENT"
_mvia_options() {
	"$1" --help 2>/dev/null | awk '/^ +-/ {
		sub(/^ +/, "")
		sub(/  .*/, "")
		n = split($0, part, /, /)
		argument = ""
		for (i = 1; i <= n; i++)
			if (split(part[i], word, / /) > 1)
				argument = word[2]
		for (i = 1; i <= n; i++) {
			split(part[i], word, / /)
			print word[1], argument
		}
	}'
}

_mvia_nics() {
	viainfo 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_mvia_interfaces() {
	ls /sys/class/net 2>/dev/null
}

# _mvia_values ARGUMENT: words for it; files are bash's own
_mvia_values() {
	case $1 in
	NIC) _mvia_nics ;;
	LEVEL) echo unreliable rd rr ;;
	OP) echo send write write_imm read ;;
	NETNS) ls /run/netns 2>/dev/null ;;
	esac
}

# _mvia_words TOOL: those that are no options, or FILE
_mvia_words() {
	case $1 in
	viastat) _mvia_nics; _mvia_interfaces ;;
	via-bind)
		if ((COMP_CWORD > 1)); then
			echo native stock
		else
			_mvia_interfaces
		fi ;;
	viaplot)
		echo FILE
		((COMP_CWORD > 1)) || echo latency instructions bandwidth histogram ;;
	viaping | vipl_*) compgen -A hostname ;;
	esac
}

_mvia_tool() {
	local tool=${1##*/} cur=${COMP_WORDS[COMP_CWORD]} prev argument list

	# COMP_WORDBREAKS has ":", so shm:0 comes in pieces.
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n : cur prev
	else
		prev=${COMP_WORDS[COMP_CWORD - 1]}
	fi
	argument=
	if [[ $prev == -* && $cur != -* ]]; then
		argument=$(_mvia_options "$1" | awk -v o="$prev" '$1 == o { print $2 }')
	fi
	if [[ $argument ]]; then
		list=$argument
		[[ $argument == FILE ]] || list=$(_mvia_values "$argument")
	elif [[ $cur == -* ]]; then
		list=$(_mvia_options "$1" | awk '{ print $1 }')
		[[ $tool != via-bind ]] || list='--version --help'
	else
		list=$(_mvia_words "$tool")
	fi
	mapfile -t COMPREPLY < <(compgen -W "${list//FILE/}" -- "$cur")
	case $list in
	*FILE*)
		compopt -o filenames 2>/dev/null
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
	if declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$cur"
	fi
}

complete -F _mvia_tool viainfo viaping viastat vipl_lat vipl_bw viaplot via-bind
