import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { CatalogueLines, Line } from './catalogue.ts';

/** The list that the catalogue shows. */
interface ShownList {
  readonly lines: CatalogueLines;
  /** Identifies the filter and the order: a list with another key starts at its top. */
  readonly listKey: string;
}

/** The line that was at the top of the visible part of the list, and the list at that time. */
interface TopLine {
  readonly shown: ShownList;
  /** Undefined when the list had no lines. */
  readonly line: Line | undefined;
  /** Key of the line, which it keeps when the catalogue changes. */
  readonly key: string | null;
}

/**
 * Keeps the visible rows of the catalogue at their place on the screen when the catalogue changes. For example, when
 * slides are added above these rows, the hook adds the height of the new lines to the scroll position.
 *
 * @param coveredHeight height, in pixels, of the sticky title of a group, which covers the lines at the top of the visible part
 * @param scrollTo scrolls to a distance from the top of the list, in pixels
 * @returns a function to call whenever the list is scrolled
 */
export function useScrollAnchor(
  scroller: RefObject<HTMLElement | null>,
  shown: ShownList,
  coveredHeight: number,
  scrollTo: (top: number) => void,
) {
  const lastTopLine = useRef<TopLine | null>(null);

  function rememberTopLine() {
    const { lines } = shown;
    const index = lines.layout.indexAtTop((scroller.current?.scrollTop ?? 0) + coveredHeight);
    lastTopLine.current = { shown, line: lines.layout.lineAt(index), key: lines.keyAt(index) };
  }

  useLayoutEffect(() => {
    const before = lastTopLine.current;
    const list = scroller.current;
    if (before?.shown.lines.layout === shown.lines.layout && before.shown.listKey === shown.listKey) {
      // Without a change, the scroll position is not read: reading it forces a layout of the page, which is slow while a slide opens.
      lastTopLine.current = { ...before, shown };
      return;
    }
    if (list !== null && before !== null) {
      const top = correctedScrollTop(list.scrollTop, before, shown, coveredHeight);
      if (top !== list.scrollTop) scrollTo(top);
    }
    rememberTopLine();
  });
  return rememberTopLine;
}

/** Returns the scroll position, in pixels, at which the line at the top keeps its place on the screen; 0 when `listKey` has changed. */
function correctedScrollTop(
  scrollTop: number,
  before: TopLine,
  { lines, listKey }: ShownList,
  coveredHeight: number,
): number {
  if (before.shown.listKey !== listKey) return 0;
  if (before.line === undefined) return scrollTop;
  const line = lines.layout.lineAt(lines.indexOf(before.key));
  if (line !== undefined) {
    // With the same groups, the user has only opened or closed a group or a case: the list must not move under the pointer.
    const isSameCatalogue = before.shown.lines.layout.groups === lines.layout.groups;
    return isSameCatalogue ? scrollTop : scrollTop + line.top - before.line.top;
  }
  // The line has left the list: the title of its case, or else of its group, moves to the top, unless that title is below the top already.
  const { group } = before.line;
  const slideCase = before.line.kind === 'image' ? before.line.caseLine?.slideCase : undefined;
  const titleIndexes = [slideCase, group].map((branch) => lines.layout.indexOfBranch(branch?.key ?? ''));
  const title = lines.layout.lineAt(titleIndexes.find((index) => index !== -1) ?? -1);
  if (title === undefined) return scrollTop;
  // The title of a case sticks below the title of its group.
  return Math.min(scrollTop, title.kind === 'case' ? title.top - coveredHeight : title.top);
}
