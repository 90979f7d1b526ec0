/** Texts of a stream between the server, which writes them, and the connection, which takes them when it can. */
export interface EventQueue {
  push(text: string): void;
  /** Whether the client takes the events too slowly. */
  isFull(): boolean;
  /** Ends the stream after what has been pushed. */
  end(): void;
  texts(): AsyncIterable<string>;
}

const maxWaitingChars = 8 * 2 ** 20;

export function createEventQueue(): EventQueue {
  let waiting: string[] = [];
  let chars = 0;
  let hasEnded = false;
  let wake = () => {};

  async function* texts(): AsyncGenerator<string> {
    for (;;) {
      if (waiting.length > 0) {
        const text = waiting.join('');
        waiting = [];
        chars = 0;
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
      waiting.push(text);
      chars += text.length;
      wake();
    },
    isFull: () => chars > maxWaitingChars,
    end() {
      hasEnded = true;
      wake();
    },
    texts,
  };
}
