import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { CatalogueLines, Line } from './catalogue.ts';

/** The list that is shown. */
interface Shown {
  readonly lines: CatalogueLines;
  /** Identifies the filter and the order: a list with another key starts at its top. */
  readonly listKey: string;
}

/** The line that was at the top of the visible part of the list, and the list at that time. */
interface TopLine {
  readonly shown: Shown;
  readonly line: Line | undefined;
  readonly key: string | null;
}

/**
 * Keeps the visible rows at their position in the window when the catalogue changes, for example when new slides are added above
 * them: the scroll position is corrected by the height of the added lines.
 *
 * @param coveredHeight height of the group's title, in pixels; it stays at the top of the window and covers the lines below
 * @param scrollTo scrolls to a distance from the top of the list, in pixels
 * @returns a function to call whenever the list is scrolled
 */
export function useScrollAnchor(
  scroller: RefObject<HTMLElement | null>,
  shown: Shown,
  coveredHeight: number,
  scrollTo: (top: number) => void,
) {
  const lastTopLine = useRef<TopLine | null>(null);

  function remember() {
    const { lines } = shown;
    const index = lines.layout.indexAtTop((scroller.current?.scrollTop ?? 0) + coveredHeight);
    lastTopLine.current = { shown, line: lines.layout.lineAt(index), key: lines.keyAt(index) };
  }

  useLayoutEffect(() => {
    const before = lastTopLine.current;
    const list = scroller.current;
    if (before?.shown.lines.layout === shown.lines.layout && before.shown.listKey === shown.listKey) {
      // The same lines, so `remember` is not needed: it reads the scroll position, which forces a layout of the page while a slide opens.
      lastTopLine.current = { ...before, shown };
      return;
    }
    if (list !== null && before !== null) {
      const top = correctedTop(list.scrollTop, before, shown, coveredHeight);
      if (top !== list.scrollTop) scrollTo(top);
    }
    remember();
  });
  return remember;
}

/** Returns the scroll position, in pixels, at which the line that was at the top keeps its place in the window. */
function correctedTop(
  top: number,
  before: TopLine,
  { lines, listKey }: Shown,
  coveredHeight: number,
): number {
  if (before.shown.listKey !== listKey) return 0;
  if (before.line === undefined) return top;
  const line = lines.layout.lineAt(lines.indexOf(before.key));
  // With the same groups, only a group or case was opened or closed: the list stays where the person has pressed.
  if (line !== undefined)
    return before.shown.lines.layout.groups === lines.layout.groups ? top : top + line.top - before.line.top;
  // The line has left the list: its case or, without one, its group is shown at the top, unless the list is above it already.
  const { group } = before.line;
  const slideCase = before.line.kind === 'image' ? before.line.caseLine?.slideCase : undefined;
  const indexes = [slideCase, group].map((branch) => lines.layout.indexOfBranch(branch?.key ?? ''));
  const branchLine = lines.layout.lineAt(indexes.find((index) => index !== -1) ?? -1);
  if (branchLine === undefined) return top;
  // The line of a case is below the title of its group.
  return Math.min(top, branchLine.kind === 'case' ? branchLine.top - coveredHeight : branchLine.top);
}
