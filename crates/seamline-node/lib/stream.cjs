"use strict";

const { SeamlineError, calling } = require("./error.cjs");
const { stringified } = require("./given.cjs");
const binding = require("./native.cjs");

function bytesOf(chunk) {
  if (typeof chunk === "string") return Buffer.from(chunk, "utf8");
  if (ArrayBuffer.isView(chunk)) {
    const view = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return view.buffer instanceof ArrayBuffer ? view : Uint8Array.from(view);
  }
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw new SeamlineError("stream", "a piece of a response is bytes or a text");
}

/**
 * Assembles one streamed response while its bytes pass through unchanged. `response` resolves to the response when the
 * stream has ended. Without a pipe, give the bytes to `feed` and call `finish`.
 */
class ResponseStream extends TransformStream {
  #native;
  #settle;
  #isFinished = false;
  #writable;
  #readable;
  #control;

  constructor(options = {}) {
    const native = calling(() => new binding.native.NativeStream(stringified(options)));
    super();
    this.#native = native;
    /** The response, once the stream has ended. */
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // A caller that only passes bytes on need not look at the response.
    this.response.catch(() => {});
    this.#writable = this.#watchedWritable(super.writable.getWriter());
    this.#readable = this.#watchedReadable(super.readable.getReader());
  }

  /** The side that takes the bytes. Where its source breaks, the response is truncated. */
  get writable() {
    return this.#writable;
  }

  /** The side that gives the bytes. A caller that cancels it leaves, so the response is aborted. */
  get readable() {
    return this.#readable;
  }

  #watchedWritable(writer) {
    return new WritableStream({
      start: (control) => {
        this.#control = control;
      },
      write: async (chunk) => {
        await writer.ready;
        this.#look(chunk);
        writer.write(chunk).catch(() => {});
      },
      close: () => {
        this.#end();
        return writer.close();
      },
      abort: (reason) => {
        this.#end();
        return writer.abort(reason);
      },
    });
  }

  #watchedReadable(reader) {
    return new ReadableStream(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => {
          this.#leave();
          this.#control.error(reason);
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads a piece that passes. An error of ours ends the response, and the bytes go on. */
  #look(chunk) {
    if (this.#isFinished) return;
    try {
      this.feed(chunk);
    } catch (error) {
      this.#isFinished = true;
      this.#settle.reject(error);
    }
  }

  /** Takes the status and the headers of the response. */
  head(status, headers = {}) {
    const entries = typeof headers.entries === "function" ? [...headers.entries()] : Object.entries(headers);
    const [names, values] = [entries.map(([name]) => name), entries.map(([, value]) => String(value))];
    calling(() => this.#native.head(status, names, values));
  }

  /** Takes the next piece; returns whether it brought progress. */
  feed(piece) {
    return calling(() => this.#native.feed(bytesOf(piece)));
  }

  /** Ends the response because the caller does not want the rest. */
  abort() {
    calling(() => this.#native.abort());
  }

  /** Ends the response because there was no progress for too long. */
  stall() {
    calling(() => this.#native.stall());
  }

  /** Ends the response because the connection broke. */
  fail(text) {
    calling(() => this.#native.fail(String(text)));
  }

  /** Whether later bytes cannot change the response. */
  get isOver() {
    return this.#isFinished || calling(() => this.#native.isOver());
  }

  /** Ends the stream and returns the response. */
  finish() {
    const response = JSON.parse(calling(() => this.#native.finish()));
    this.#isFinished = true;
    this.#settle.resolve(response);
    return response;
  }

  #end() {
    if (this.#isFinished) return;
    try {
      this.finish();
    } catch (error) {
      this.#isFinished = true;
      this.#settle.reject(error);
    }
  }

  #leave() {
    if (this.#isFinished) return;
    try {
      this.abort();
    } finally {
      this.#end();
    }
  }
}

module.exports = { ResponseStream };
