# A client of `seamline host` in Elixir, without dependencies.
#
#     elixir host.exs [COMMAND ...]
#
# runs the host (`seamline host` by default), repairs a request, assembles a stream, and keeps a conversation.

defmodule Json do
  @moduledoc "JSON for Elixir before 1.18, which has a module of its own."

  def encode(nil), do: "null"
  def encode(true), do: "true"
  def encode(false), do: "false"
  def encode(number) when is_integer(number) or is_float(number), do: to_string(number)
  def encode(atom) when is_atom(atom), do: encode(Atom.to_string(atom))
  def encode(list) when is_list(list), do: "[" <> Enum.map_join(list, ",", &encode/1) <> "]"

  def encode(map) when is_map(map) do
    "{" <> Enum.map_join(map, ",", fn {key, value} -> encode(to_string(key)) <> ":" <> encode(value) end) <> "}"
  end

  def encode(text) when is_binary(text) do
    escape = fn
      char when char in [?", ?\\] -> <<?\\, char>>
      char when char < 0x20 -> "\\u" <> String.pad_leading(Integer.to_string(char, 16), 4, "0")
      char -> <<char::utf8>>
    end

    "\"" <> (text |> String.to_charlist() |> Enum.map_join(escape)) <> "\""
  end

  def decode(text) do
    {value, _rest} = value(skip(text))
    value
  end

  defp skip(<<char, rest::binary>>) when char in ~c[ \t\r\n], do: skip(rest)
  defp skip(rest), do: rest

  defp value("null" <> rest), do: {nil, rest}
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}
  defp value("\"" <> rest), do: string(rest, [])
  defp value("[" <> rest), do: list(skip(rest), [])
  defp value("{" <> rest), do: object(skip(rest), %{})

  defp value(text) do
    [number] = Regex.run(~r/^-?[0-9.eE+-]+/, text)
    rest = binary_part(text, byte_size(number), byte_size(text) - byte_size(number))

    case Integer.parse(number) do
      {integer, ""} -> {integer, rest}
      _ -> {number |> Float.parse() |> elem(0), rest}
    end
  end

  defp list("]" <> rest, items), do: {Enum.reverse(items), rest}
  defp list("," <> rest, items), do: list(skip(rest), items)

  defp list(text, items) do
    {item, rest} = value(text)
    list(skip(rest), [item | items])
  end

  defp object("}" <> rest, map), do: {map, rest}
  defp object("," <> rest, map), do: object(skip(rest), map)

  defp object("\"" <> text, map) do
    {key, rest} = string(text, [])
    ":" <> rest = skip(rest)
    {item, rest} = value(skip(rest))
    object(skip(rest), Map.put(map, key, item))
  end

  defp string("\"" <> rest, parts), do: {parts |> Enum.reverse() |> IO.iodata_to_binary(), rest}

  defp string(<<"\\u", high::binary-4, "\\u", low::binary-4, rest::binary>>, parts)
       when binary_part(high, 0, 1) in ["d", "D"] and binary_part(high, 1, 1) in ~w(8 9 a A b B) do
    code = 0x10000 + (String.to_integer(high, 16) - 0xD800) * 0x400 + String.to_integer(low, 16) - 0xDC00
    string(rest, [<<code::utf8>> | parts])
  end

  defp string(<<"\\u", code::binary-4, rest::binary>>, parts) do
    string(rest, [<<String.to_integer(code, 16)::utf8>> | parts])
  end

  defp string(<<"\\", char, rest::binary>>, parts) do
    plain = %{?n => "\n", ?t => "\t", ?r => "\r", ?b => "\b", ?f => "\f"}
    string(rest, [Map.get(plain, char, <<char>>) | parts])
  end

  defp string(<<char::utf8, rest::binary>>, parts), do: string(rest, [<<char::utf8>> | parts])
end

defmodule Host do
  @moduledoc "Calls methods of a host, one after the other."

  def start([program | arguments]) do
    path = System.find_executable(program) || raise "cannot find #{program}"
    port = Port.open({:spawn_executable, path}, [:binary, :exit_status, {:line, 65_536}, args: arguments])
    call(port, "initialize", %{versions: [1]})
    port
  end

  def call(port, method, params) do
    case request(port, method, params) do
      {:ok, result} -> result
      {:error, error} -> raise "#{method}: #{error["message"]}"
    end
  end

  def request(port, method, params) do
    id = System.unique_integer([:positive])
    Port.command(port, Json.encode(%{jsonrpc: "2.0", id: id, method: method, params: params}) <> "\n")

    case Json.decode(line(port, [])) do
      %{"id" => ^id, "result" => result} -> {:ok, result}
      %{"error" => error} -> {:error, error}
    end
  end

  # A long line comes in parts.
  defp line(port, parts) do
    receive do
      {^port, {:data, {:noeol, part}}} -> line(port, [part | parts])
      {^port, {:data, {:eol, part}}} -> [part | parts] |> Enum.reverse() |> IO.iodata_to_binary()
      {^port, {:exit_status, status}} -> raise "the host has ended with status #{status}"
    end
  end
end

broken = %{
  model: "claude-sonnet-4-5",
  max_tokens: 64,
  messages: [
    %{role: "user", content: "read main.rs"},
    %{role: "assistant", content: [%{type: "tool_use", id: "toolu_1", name: "read", input: %{}}]},
    %{role: "user", content: "never mind"}
  ]
}

stream_text =
  ~s(data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1",) <>
    ~s("function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n)

command = if System.argv() == [], do: ["seamline", "host"], else: System.argv()
host = Host.start(command)

repaired = Host.call(host, "repair", %{body: broken})
IO.puts("repaired: #{repaired["changed"]} #{hd(repaired["actions"])["code"]}")

stream = Host.call(host, "stream/open", %{})["handle"]
for <<piece::binary-10 <- stream_text>>, do: Host.call(host, "stream/feed", %{stream: stream, text: piece})
rest = rem(byte_size(stream_text), 10)
tail = binary_part(stream_text, byte_size(stream_text) - rest, rest)
Host.call(host, "stream/feed", %{stream: stream, text: tail})
response = Host.call(host, "stream/finish", %{stream: stream})
IO.puts("stream: #{response["ending"]} #{hd(response["calls"])["name"]}")

options = %{dialect: "openai_chat"}
session = Host.call(host, "session/create", %{store: "memory:", id: "example", options: options})["handle"]
Host.call(host, "session/append", %{session: session, messages: [%{role: "user", content: "read main.rs"}]})
cycle = Host.call(host, "session/begin_cycle", %{session: session, stream: stream, effects: %{read: "read_only"}})

for call <- cycle["calls"] do
  names = %{session: session, cycle: cycle["cycle"], call: call["id"]}
  Host.call(host, "session/before_tool_call", names)
  Host.call(host, "session/after_tool_call", Map.put(names, :output, "fn main() {}"))
end

start = Host.call(host, "session/before_agent_start", %{session: session, envelope: %{model: "gpt-5"}})
roles = Enum.map(start["request"]["body"]["messages"], & &1["role"])
IO.puts("session: #{start["start"]} #{Enum.join(roles, " ")}")

{:error, error} = Host.request(host, "check", %{text: "no JSON"})
IO.puts("error: #{error["data"]["kind"]}")
Host.call(host, "close", %{handle: session})
Port.close(host)
