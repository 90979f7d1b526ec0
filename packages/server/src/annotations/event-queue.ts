/** Holds the strings of an event stream (server-sent events of annotations) until the connection can send them. */
export interface EventQueue {
  push(text: string): void;
  /** Returns whether too many characters wait, because the client reads slowly. The caller then ends the stream. */
  isFull(): boolean;
  /** Ends the stream after the reader has received the waiting strings. */
  end(): void;
  /** Returns the stream. It joins all strings that wait when the reader asks for the next one. */
  texts(): AsyncIterable<string>;
}

const maxWaitingChars = 8 * 2 ** 20; // a queue with more is full

export function createEventQueue(): EventQueue {
  let waitingTexts: string[] = [];
  let waitingChars = 0;
  let hasEnded = false;
  /** Wakes the reader of the stream when it waits for a string or the end. */
  let wake = () => {};

  async function* texts(): AsyncGenerator<string> {
    for (;;) {
      if (waitingTexts.length > 0) {
        const text = waitingTexts.join('');
        waitingTexts = [];
        waitingChars = 0;
        yield text;
      } else if (hasEnded) {
        return;
      } else {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
    }
  }

  return {
    push(text) {
      if (hasEnded) return;
      waitingTexts.push(text);
      waitingChars += text.length;
      wake();
    },
    isFull: () => waitingChars > maxWaitingChars,
    end() {
      hasEnded = true;
      wake();
    },
    texts,
  };
}
