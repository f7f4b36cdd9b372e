# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# bash completion for via(8)

_via_devs() {
	via dev show 2>/dev/null | sed -n 's/^\([^:]*\): interface \([^ ]*\) .*/\1 \2/p; t; s/^\([^:]*\):.*/\1/p'
}

_via_interfaces() {
	ls /sys/class/net 2>/dev/null
}

_via_hosts() {
	via peer show "$1" 2>/dev/null | sed -n 's/^[^ ]* \([0-9a-f:]*:[0-9a-f]*\).*/\1/p'
}

_via() {
	local cur=${COMP_WORDS[COMP_CWORD]} words=() list='' i

	# COMP_WORDBREAKS has ":", so an address comes in pieces.
	if declare -F _get_comp_words_by_ref >/dev/null; then
		local cword all
		_get_comp_words_by_ref -n : -c cur -i cword -w all
		COMP_WORDS=("${all[@]}") COMP_CWORD=$cword
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns) ((i++)) ;;
		-*) ;;
		*) words+=("${COMP_WORDS[i]}") ;;
		esac
	done
	case "${#words[@]} ${words[*]:0:2}" in
	0\ *) list='dev peer limit driver stat top res selftest monitor apply save help --json --pretty --statistics --oneline --color --color=always --color=auto --color=never --netns --version --help' ;;
	1\ dev) list='show attach detach' ;;
	1\ peer) list='show allow deny key genkey' ;;
	1\ limit) list='show set' ;;
	1\ driver) list='show native stock' ;;
	1\ selftest | 2\ selftest\ *) list=$(_via_interfaces) ;;
	1\ monitor) list='all dev peer' ;;
	1\ stat) list="show $(_via_devs) --json --pretty --interval --count --vis --prometheus" ;;
	1\ top) list="$(_via_devs) --interval --count" ;;
	1\ res) list='vi mr cq conn all' ;;
	2\ stat\ show | 2\ res\ *) list=$(_via_devs) ;;
	2\ dev\ attach | 2\ driver\ *) list=$(_via_interfaces) ;;
	3\ dev\ attach) list='driver port dev shape' ;;
	4\ dev\ attach) list='via_netdev' ;;
	2\ dev\ * | 2\ peer\ show | 2\ peer\ allow | 2\ peer\ deny | 2\ peer\ key)
		list=$(_via_devs) ;;
	3\ peer\ allow) list='all' ;;
	[3-9]\ peer\ deny) list="all $(_via_hosts "${words[2]}")" ;;
	3\ peer\ key) list=$(_via_hosts "${words[2]}") ;;
	4\ peer\ key) COMPREPLY=($(compgen -W 'none -' -- "$cur") $(compgen -f -- "$cur")); return ;;
	2\ limit\ *) list='handles vi vi_pages pages cq_pages waiters queries' ;;
	*\ apply*)
		if [ "${words[${#words[@]} - 1]}" = dev ]; then
			list=$(_via_interfaces)
		else
			COMPREPLY=($(compgen -W 'dev check' -- "$cur") $(compgen -f -- "$cur"))
			return
		fi ;;
	esac
	COMPREPLY=($(compgen -W "$list" -- "$cur"))
	if declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$cur"
	fi
}

complete -F _via via
