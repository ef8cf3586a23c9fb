# shellcheck shell=bash
# Completion of cllab's command line: the program itself says what a word may become, file names come from bash.
_cllab() {
    local words=() word glue=
    # bash takes axes and selectors apart at = and :, the program takes whole words.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && (-n $glue || $word == [=:]*) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        [[ $word == *[=:] ]] && glue=yes || glue=
    done
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
    word=${words[-1]}
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o default -F _cllab cllab
