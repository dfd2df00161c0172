/** The shell's command that installs the command line. */
export const installCommand = "npm install -g @narthex/cli"
