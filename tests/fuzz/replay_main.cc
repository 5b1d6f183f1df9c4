// Runs a fuzz target over every file of a directory, in the order of their names, and over the empty input:
// NAME_replay DIRECTORY. Whatever crashed once stays mended. A directory without files is an error.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run_one(const std::string& name, const std::string& input) {
  std::printf("%s (%zu bytes)\n", name.c_str(), input.size());
  std::fflush(stdout);  // the last line names the input that crashed
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  std::error_code error;
  std::set<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(argv[1], error), end; !error && entry != end;
       entry.increment(error))
    if (entry->is_regular_file()) files.insert(entry->path());
  if (error || files.empty()) {
    std::fprintf(stderr, "no inputs in '%s'%s%s\n", argv[1], error ? ": " : "", error.message().c_str());
    return 1;
  }
  run_one("empty", "");
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::fprintf(stderr, "cannot read '%s'\n", file.c_str());
      return 1;
    }
    run_one(file.filename().string(), std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  return 0;
}
