import { describe, expect, it } from 'vitest';
import { createToolPointer, type PointerTool } from './tool-pointer.ts';

/** Creates a pointer whose tool records what it receives: the kind of the event, and its x. */
function startPointer() {
  const received: string[] = [];
  const tool: PointerTool = {
    onPress: ({ x }) => received.push(`press ${x}`),
    onMove: ({ x }) => received.push(`move ${x}`),
    onRelease: ({ x }) => received.push(`release ${x}`),
    onCancel: () => received.push('cancel'),
  };
  return { pointer: createToolPointer(() => tool), received };
}

const eventOf = (pointerType: string, x: number) => ({
  pointerType,
  point: { x, y: 0 },
  keys: { alt: false, shift: false },
});

describe('createToolPointer (pointer events for a drawing or measuring tool)', () => {
  it('ignores the palm that touches the screen while a pen draws', () => {
    const { pointer, received } = startPointer();
    pointer.press(eventOf('pen', 1));
    pointer.press(eventOf('touch', 100));
    pointer.move(eventOf('touch', 101));
    pointer.move(eventOf('pen', 2));
    pointer.release(eventOf('touch', 101));
    pointer.release(eventOf('pen', 3));
    expect(received).toEqual(['press 1', 'move 2', 'release 3']);
  });

  it('cancels the press of the palm when a pen touches the screen after it', () => {
    const { pointer, received } = startPointer();
    pointer.press(eventOf('touch', 100));
    pointer.press(eventOf('pen', 1));
    pointer.release(eventOf('touch', 100));
    pointer.release(eventOf('pen', 2));
    expect(received).toEqual(['press 100', 'cancel', 'press 1', 'release 2']);
  });

  it('passes the movements of every pointer to the tool while none is pressed', () => {
    const { pointer, received } = startPointer();
    pointer.move(eventOf('mouse', 1));
    pointer.move(eventOf('pen', 2));
    expect(received).toEqual(['move 1', 'move 2']);
  });

  it('passes only one cancel event to the tool when a press is cancelled twice and then released', () => {
    const { pointer, received } = startPointer();
    expect(pointer.cancel()).toBe(false);
    pointer.press(eventOf('mouse', 1));
    expect([pointer.cancel(), pointer.cancel()]).toEqual([true, false]);
    pointer.release(eventOf('mouse', 2));
    expect(received).toEqual(['press 1', 'cancel']);
  });

  it('cancels the press of a pen when cancelType is called for the pointer type pen', () => {
    const { pointer, received } = startPointer();
    pointer.press(eventOf('pen', 1));
    pointer.cancelType('pen');
    expect(received).toEqual(['press 1', 'cancel']);
    expect(pointer.cancel()).toBe(false);
  });

  it('keeps the press of a pen when cancelType is called for the pointer type touch', () => {
    const { pointer, received } = startPointer();
    pointer.press(eventOf('pen', 1));
    pointer.cancelType('touch');
    pointer.move(eventOf('pen', 2));
    expect(received).toEqual(['press 1', 'move 2']);
  });
});
