// In every plugin: asks for the symbol of the program whose headers these are, so that another
// program refuses it before anything of it runs.
extern "C" {
extern const char MF_PLUGIN_ABI;
extern const char* const mfbench_plugin_made_for;
const char* const mfbench_plugin_made_for = &MF_PLUGIN_ABI;
}
