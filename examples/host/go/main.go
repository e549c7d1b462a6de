// A client of `seamline host` in Go, without dependencies.
//
//	go run main.go [COMMAND ...]
//
// runs the host (`seamline host` by default), repairs a request, assembles a stream, and keeps a conversation.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// Error is an error of the host.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Kind string `json:"kind"`
		Hint string `json:"hint"`
	} `json:"data"`
}

func (e *Error) Error() string { return e.Message }

type response struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Params are the parameters of a method.
type Params map[string]any

// Host calls methods of a host. Several goroutines may call at the same time.
type Host struct {
	process *exec.Cmd
	input   io.WriteCloser
	mutex   sync.Mutex
	lastID  uint64
	waiting map[uint64]chan response
}

// Start runs a host.
func Start(command []string) (*Host, error) {
	process := exec.Command(command[0], command[1:]...)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	host := &Host{process: process, input: input, waiting: map[uint64]chan response{}}
	go host.read(bufio.NewReader(output))
	return host, host.Call("initialize", Params{"versions": []int{1}}, nil)
}

func (h *Host) read(output *bufio.Reader) {
	decoder := json.NewDecoder(output)
	for {
		var got response
		err := decoder.Decode(&got)
		h.mutex.Lock()
		if err != nil {
			for id, wait := range h.waiting {
				wait <- response{Error: &Error{Message: "the host has ended"}}
				delete(h.waiting, id)
			}
			h.mutex.Unlock()
			return
		}
		if wait, ok := h.waiting[got.ID]; ok {
			wait <- got
			delete(h.waiting, got.ID)
		}
		h.mutex.Unlock()
	}
}

// Call calls a method and reads its result.
func (h *Host) Call(method string, params Params, result any) error {
	wait := make(chan response, 1)
	h.mutex.Lock()
	h.lastID++
	id := h.lastID
	h.waiting[id] = wait
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err == nil {
		_, err = h.input.Write(append(line, '\n'))
	}
	h.mutex.Unlock()
	if err != nil {
		return err
	}
	got := <-wait
	if got.Error != nil {
		return got.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(got.Result, result)
}

// Close ends the host, which closes what is open.
func (h *Host) Close() error {
	if err := h.input.Close(); err != nil {
		return err
	}
	return h.process.Wait()
}

const broken = `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[
  {"role":"user","content":"read main.rs"},
  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
  {"role":"user","content":"never mind"}]}`

const stream = `data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1",` +
	`"function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"

func run(command []string) error {
	host, err := Start(command)
	if err != nil {
		return err
	}
	// As a text, the body keeps its bytes.
	var repaired struct {
		Changed bool
		Text    string
		Actions []struct{ Code string }
	}
	if err := host.Call("repair", Params{"text": broken}, &repaired); err != nil {
		return err
	}
	fmt.Println("repaired:", repaired.Changed, repaired.Actions[0].Code)

	var opened struct{ Handle string }
	if err := host.Call("stream/open", Params{}, &opened); err != nil {
		return err
	}
	streamed := opened.Handle
	for start := 0; start < len(stream); start += 10 {
		piece := stream[start:min(start+10, len(stream))]
		if err := host.Call("stream/feed", Params{"stream": streamed, "text": piece}, nil); err != nil {
			return err
		}
	}
	var answer struct {
		Ending string
		Calls  []struct{ Name string }
	}
	if err := host.Call("stream/finish", Params{"stream": streamed}, &answer); err != nil {
		return err
	}
	fmt.Println("stream:", answer.Ending, answer.Calls[0].Name)

	if err := converse(host, streamed); err != nil {
		return err
	}
	if err, ok := host.Call("check", Params{"text": "no JSON"}, nil).(*Error); ok {
		fmt.Println("error:", err.Data.Kind)
	}
	return host.Close()
}

func converse(host *Host, streamed string) error {
	var opened struct{ Handle string }
	options := Params{"dialect": "openai_chat"}
	if err := host.Call("session/create", Params{"store": "memory:", "id": "example", "options": options}, &opened); err != nil {
		return err
	}
	session := opened.Handle
	said := []Params{{"role": "user", "content": "read main.rs"}}
	if err := host.Call("session/append", Params{"session": session, "messages": said}, nil); err != nil {
		return err
	}
	var cycle struct {
		Cycle string
		Calls []struct{ ID string }
	}
	effects := Params{"read": "read_only"}
	if err := host.Call("session/begin_cycle", Params{"session": session, "stream": streamed, "effects": effects}, &cycle); err != nil {
		return err
	}
	for _, call := range cycle.Calls {
		names := Params{"session": session, "cycle": cycle.Cycle, "call": call.ID}
		if err := host.Call("session/before_tool_call", names, nil); err != nil {
			return err
		}
		names["output"] = "fn main() {}"
		if err := host.Call("session/after_tool_call", names, nil); err != nil {
			return err
		}
	}
	var start struct {
		Start   string
		Request struct {
			Body struct{ Messages []struct{ Role string } }
		}
	}
	envelope := Params{"model": "gpt-5"}
	if err := host.Call("session/before_agent_start", Params{"session": session, "envelope": envelope}, &start); err != nil {
		return err
	}
	fmt.Print("session: ", start.Start)
	for _, message := range start.Request.Body.Messages {
		fmt.Print(" ", message.Role)
	}
	fmt.Println()
	return host.Call("close", Params{"handle": session}, nil)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func main() {
	command := os.Args[1:]
	if len(command) == 0 {
		command = []string{"seamline", "host"}
	}
	if err := run(command); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
