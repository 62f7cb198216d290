# What zsh offers for each of some lines: zsh -f offered_by.zsh SCRIPT LINE...
#
# Prints "> LINE" and below it the words, without what would stand before them, as the directory of a file. zsh completes
# in an interactive shell alone: this script starts one on a terminal of its own, which reads the second half.
if [[ -z $OFFERED_TO ]]; then
  zmodload zsh/zpty || exit 9
  export OFFERED_BY=$1 OFFERED_TO=$(mktemp)
  export OFFERED_LINES=${(pj:\n:)@[2,-1]}
  zpty shell zsh -f -i
  zpty -w shell "source ${(q)0:A}"
  zpty -w -n shell $'\C-X'
  while zpty -r shell line; do :; done
  zpty -d shell
  cat $OFFERED_TO
  rm -f $OFFERED_TO
  exit
fi

autoload -Uz compinit
compinit -D -u
source $OFFERED_BY

# Takes down what is really offered; with -A, -D or -O somebody only asks what would fit.
compadd() {
  local -a fitting
  if [[ " $* " != *" -"[AOD]" "* ]]; then
    builtin compadd -O fitting "$@"
    (( $#fitting )) && print -rl -- $fitting >>$OFFERED_TO
  fi
  builtin compadd "$@"
}

offer() {
  local line
  for line in "${(@f)OFFERED_LINES}"; do
    print -r -- "> $line" >>$OFFERED_TO
    BUFFER=$line
    CURSOR=$#BUFFER
    zle list-choices
  done
  exit
}
zle -N offer
bindkey '^X' offer
