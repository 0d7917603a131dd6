_holdfast() {
  local cur=${COMP_WORDS[COMP_CWORD]} command= named= expecting= value_of= glued= dashes=0 i=1 word
  local options valued words schemes
  COMPREPLY=()
  _holdfast_takes ''

  # What stands before the cursor. bash parts words at ':' and '=': what follows those belongs to the word before.
  while (( i < COMP_CWORD )); do
    word=${COMP_WORDS[i]}
    i=$(( i + 1 ))
    if [[ $word == ':' || $word == '=' ]]; then
      glued=yes
    elif [[ -n $glued ]]; then
      glued= value_of=${value_of:-$expecting} expecting=
    elif [[ -n $expecting ]]; then
      value_of=$expecting expecting=
    else
      value_of=
      case $word in
        --) [[ " run once fence " != *" $command "* ]] || { dashes=$i; break; } ;;
        -*) [[ " $valued " != *" $word "* ]] || expecting=$word ;;
        *) if [[ -z $command ]]; then
             command=$word
             _holdfast_takes "$command"
           else
             named=yes
           fi ;;
      esac
    fi
  done
  if [[ $cur == ':' || $cur == '=' ]]; then
    glued=yes cur=
  fi
  [[ -z $glued ]] || expecting=${expecting:-$value_of}

  if (( dashes > 0 )); then # another program's words
    if (( COMP_CWORD == dashes )); then
      _holdfast_files -c
    elif type _command_offset > /dev/null 2>&1; then
      _command_offset "$dashes"
    else
      _holdfast_files -f
    fi
  elif [[ $expecting == --store && -n $glued && -n $value_of ]]; then # sqlite:
    _holdfast_files -f
  elif [[ $expecting == --store ]]; then
    COMPREPLY=( $(compgen -W "$schemes" -- "$cur") )
    compopt -o nospace 2> /dev/null # zsh has none
  elif [[ -n $expecting ]]; then
    : # a time, a number
  elif [[ $cur == -* ]]; then
    COMPREPLY=( $(compgen -W "$options" -- "$cur") )
  elif [[ ( $command == run || $command == once ) && -n $named ]]; then
    COMPREPLY=( $(compgen -W '--' -- "$cur") )
  elif [[ -z $named ]]; then
    COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  fi
}

# Files and folders, or with -c programs too; names may have blanks.
_holdfast_files() {
  local IFS=$'\n'
  compopt -o filenames 2> /dev/null # zsh has none
  if [[ $1 == -c && $cur != */* ]]; then
    COMPREPLY=( $(compgen -c -- "$cur") )
  else
    COMPREPLY=( $(compgen -f -- "$cur") )
  fi
}

complete -F _holdfast holdfast
