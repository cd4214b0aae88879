# Completion of mfbench for bash, and for zsh after `autoload -U bashcompinit && bashcompinit`: what the
# program's own help names, and files. `mfbench list` names algorithms.
_mfbench() {
  local words=() word current=${COMP_WORDS[COMP_CWORD]}
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word =~ ^[a-z]+$ && ${#words[@]} -lt 2 ]] || break
    words+=("$word")
    [ "${words[0]}" = data ] || break
  done
  local named
  named=$("${COMP_WORDS[0]}" "${words[@]}" --help 2>/dev/null |
    sed -n 's/^  \(-[a-z],\)\{0,1\}\(--[a-z-]*\).*/\2/p; /^Subcommands:/,$ s/^  \([a-z]*\) .*/\1/p')
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    compgen -W "$named" -- "$current"
    compgen -f -- "$current"
  )
}
complete -o filenames -F _mfbench mfbench
