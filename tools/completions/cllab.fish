# Completion of cllab's command line: the program itself says what a word may become, file names come from fish.
complete -c cllab -a '(cllab complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
