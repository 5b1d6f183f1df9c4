#pragma once
// What the user sees. Lines go to standard output (or error), a live display is redrawn in place below them.
// A terminal that vanished (closed ssh session: EIO, EPIPE) silences the console for good and is no error:
// the log goes on.
#include <string>
#include <string_view>
#include <vector>

namespace arena {

class Console {
 public:
  // `output` and `errors` are descriptors; the display lives on `output` and exists only on a terminal.
  Console(int output, int errors, bool quiet);
  bool is_terminal() const { return terminal_; }
  bool color() const { return color_; }
  int width() const;  // columns and lines, asked again each time: windows are resized
  int height() const;

  void line(std::string_view text);    // news; swallowed when quiet
  void result(std::string_view text);  // what was asked for; printed even when quiet
  void error(std::string_view text);   // "arena-coord: TEXT" on standard error
  // Replaces the display (empty: removes it). Each line must fit into width(). Nothing without a terminal.
  void draw(const std::vector<std::string>& lines);
  void detach() { lost_ = true; }  // after SIGHUP: not one more byte

 private:
  void write_all(int descriptor, std::string_view bytes);
  std::string erase_display();
  int output_;
  int errors_;
  bool quiet_;
  bool terminal_;
  bool color_;
  bool lost_ = false;
  std::vector<std::string> display_;
};

}  // namespace arena
