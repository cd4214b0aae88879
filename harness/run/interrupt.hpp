// Ctrl-C: the first ends the run after the running epoch, the second gives that epoch up, the third
// ends the program at once.
#pragma once

namespace mf {

void install_interrupt_handler();
int interrupt_level();

}  // namespace mf
