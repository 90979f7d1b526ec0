import { type RefObject, useLayoutEffect, useRef } from 'react';
import { type DatasetGroup, groupLineKey, indexOfLine, type Line } from './catalogue.ts';

interface Shown {
  readonly groups: readonly DatasetGroup[];
  readonly lines: readonly Line[];
  /** Another one is another list, which begins at its top. */
  readonly listKey: string;
}

/**
 * Keeps what is seen where it is when the catalogue changes: new slides above it push the list's beginning away,
 * not its middle.
 *
 * @param coveredHeight of the title at the list's top, in pixels
 * @param scrollTo takes pixels from the top
 * @returns to be called when the list was scrolled
 */
export function useStillness(
  scroller: RefObject<HTMLElement | null>,
  shown: Shown,
  coveredHeight: number,
  scrollTo: (top: number) => void,
) {
  const last = useRef<{ readonly shown: Shown; readonly line: Line | undefined } | null>(null);

  function remember() {
    const line = lineAt(shown.lines, (scroller.current?.scrollTop ?? 0) + coveredHeight);
    last.current = { shown, line };
  }

  useLayoutEffect(() => {
    const before = last.current;
    const list = scroller.current;
    if (before?.shown.lines === shown.lines) {
      // To ask where the list stands now would have the whole page laid out in the middle of a slide's opening.
      last.current = { ...before, shown };
      return;
    }
    if (list !== null && before !== null) {
      const top = topAfter(list.scrollTop, before, shown);
      if (top !== list.scrollTop) scrollTo(top);
    }
    remember();
  });
  return remember;
}

/** Where the list is to be scrolled to, in pixels. */
function topAfter(
  top: number,
  before: { readonly shown: Shown; readonly line: Line | undefined },
  shown: Shown,
): number {
  if (before.shown.listKey !== shown.listKey) return 0;
  if (before.line === undefined) return top;
  const line = shown.lines[indexOfLine(shown.lines, before.line.key)];
  // Somebody opened or closed a group: what they see begins where they pressed.
  if (line !== undefined)
    return before.shown.groups === shown.groups ? top : top + line.top - before.line.top;
  return Math.min(top, shown.lines[indexOfLine(shown.lines, groupLineKey(before.line.group))]?.top ?? top);
}

/** The line at this many pixels from the top of the list. */
function lineAt(lines: readonly Line[], top: number): Line | undefined {
  let from = 0;
  let to = lines.length; // the line begins at or after `from` and before `to`
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if ((lines[middle]?.top ?? 0) <= top) from = middle;
    else to = middle;
  }
  return lines[from];
}
