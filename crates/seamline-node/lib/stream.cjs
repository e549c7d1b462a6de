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

  constructor(options = {}) {
    const native = calling(() => new binding.native.NativeStream(stringified(options)));
    let self;
    super({
      transform(chunk, controller) {
        self.feed(chunk);
        controller.enqueue(chunk);
      },
      flush() {
        self.#end();
      },
      cancel() {
        self.#leave();
      },
    });
    self = this;
    this.#native = native;
    /** The response, once the stream has ended. */
    this.response = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // A caller that only passes bytes on need not look at the response.
    this.response.catch(() => {});
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
    this.abort();
    this.#end();
  }
}

module.exports = { ResponseStream };
