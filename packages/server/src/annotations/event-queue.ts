/** Holds the texts of an event stream (server-sent events of annotations) that wait until the connection can send them. */
export interface EventQueue {
  push(text: string): void;
  /** Returns whether more than 8 Mi characters wait because the client reads too slowly. The caller should then end the stream. */
  isFull(): boolean;
  /** Ends the stream after the waiting texts have been read. */
  end(): void;
  /** Returns the stream. All texts that wait when the reader asks for the next one are joined into one. */
  texts(): AsyncIterable<string>;
}

const maxWaitingChars = 8 * 2 ** 20;

export function createEventQueue(): EventQueue {
  let waitingTexts: string[] = [];
  let waitingChars = 0;
  let hasEnded = false;
  /** Wakes the reader when it waits for a text or the end. */
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
