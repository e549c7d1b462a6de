# The release workflow fills in the version and the hashes, and writes the formula into the tap.
class Seamline < Formula
  desc "Keeps the conversation between an AI agent and a language model whole"
  homepage "https://github.com/seamline/seamline"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/seamline/seamline/releases/download/v@VERSION@/seamline-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256_AARCH64_APPLE_DARWIN@"
    end
    on_intel do
      url "https://github.com/seamline/seamline/releases/download/v@VERSION@/seamline-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256_X86_64_APPLE_DARWIN@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/seamline/seamline/releases/download/v@VERSION@/seamline-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_AARCH64_UNKNOWN_LINUX_MUSL@"
    end
    on_intel do
      url "https://github.com/seamline/seamline/releases/download/v@VERSION@/seamline-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_X86_64_UNKNOWN_LINUX_MUSL@"
    end
  end

  def install
    bin.install "seamline"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/seamline.bash" => "seamline"
    zsh_completion.install "completions/_seamline"
    fish_completion.install "completions/seamline.fish"
  end

  test do
    (testpath/"body.json").write <<~JSON
      {"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c1","content":"ok"}]}
    JSON
    system bin/"seamline", "fix", "body.json"
    system bin/"seamline", "check", "body.json"
  end
end
