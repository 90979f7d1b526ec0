import type { Image } from '@lamina/contract';
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type LoadedGroups, rowsPerPage, useImageRows } from '../../api/catalogue.ts';
import { BranchTitle } from './BranchTitle.tsx';
import {
  branchOf,
  type CaseGroup,
  type CaseLine,
  type CatalogueLines,
  type DatasetGroup,
  type GroupLine,
  type ImageLine,
  type Line,
  type LineHeights,
  layOut,
  linesOf,
} from './catalogue.ts';
import { rememberedScroll, rememberScroll } from './catalogue-view-state.ts';
import classes from './ImageCatalog.module.css';
import { ImageRow } from './ImageRow.tsx';
import { useCurrentLine, useListKeys } from './list-keys.ts';
import { thumbnailQueue } from './thumbnail-queue.ts';
import { useScrollAnchor } from './use-scroll-anchor.ts';

/** Heights of the kinds of lines, in rem; the same values as in ImageCatalog.module.css. */
const lineHeightsInRem: LineHeights = { group: 2.75, case: 2.75, image: 4 };
/** Number of lines rendered above and below the visible ones, so that their thumbnails load before they become visible. */
const linesBeyondEdges = 6;
/** Number of rows loaded above and below each rendered image. */
const rowsBeyondRendered = 30;

export interface CatalogueListHandle {
  /** Focuses the current line, which is the one that the Tab key focuses. */
  focus(): void;
}

interface CatalogueListProps {
  readonly ref: Ref<CatalogueListHandle>;
  readonly loadedGroups: LoadedGroups;
  /** The groups of `loadedGroups` with their positions; not empty. */
  readonly groups: readonly DatasetGroup[];
  /** Set by this list: numbers of the pages (100 rows each) that it needs. `useImageGroups` reloads these pages with the groups. */
  readonly pages: RefObject<readonly number[]>;
  /** Whether another list is loading that will replace this one. */
  readonly isBusy: boolean;
  /** Identifies the filter and the order: a list with another key starts at its top. */
  readonly listKey: string;
  /** Returns whether a branch of the list (a group or a case) is open. */
  readonly isOpen: (branch: DatasetGroup | CaseGroup) => boolean;
  readonly onToggle: (branch: DatasetGroup | CaseGroup, isOpen: boolean) => void;
  /** Id of the image that the viewer shows; null while it shows none. */
  readonly selectedId: string | null;
  /** Id of the image session (the credential for loading pixels) for the thumbnails; null while there is none. */
  readonly session: string | null;
  /** Called when the mouse button goes down on an image that is not selected, so that its data can load before `onSelect`. */
  readonly onPress: (image: Image) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
}

/**
 * The catalogue's list: groups (one per dataset) with their cases and images, each of them a line. A row is the line of an image.
 * The list is virtual: the page contains only the lines in and near the visible part, and the line that Tab focuses, so scrolling
 * does not remove the focused line.
 */
export function CatalogueList(props: CatalogueListProps) {
  const { ref, loadedGroups, groups, pages, isBusy, listKey, isOpen, onToggle, selectedId, ...rowProps } =
    props;
  const scroller = useRef<HTMLDivElement>(null);
  const [heights] = useState(heightsInPixels);
  const layout = useMemo(() => layOut(groups, isOpen, heights), [groups, isOpen, heights]);
  /** Numbers of the pages of rows (one row per image) that this list has requested. */
  const [requestedPages, setRequestedPages] = useState<readonly number[]>(pages.current);
  const rows = useImageRows(loadedGroups, requestedPages);
  const lines = useMemo(() => linesOf(layout, rows), [layout, rows]);
  const selectedIndex = lines.indexOf(selectedId); // the key of a loaded image's line is the id of the image
  const { currentIndex, setCurrent } = useCurrentLine(lines, selectedId, selectedIndex);

  // oxlint warns that the React compiler cannot memoise this component; the project does not use the compiler.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: layout.count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heights[layout.lineAt(index)?.kind ?? 'image'],
    // The function is new for each layout, because a new function makes TanStack Virtual measure every line again.
    // biome-ignore lint/correctness/useExhaustiveDependencies: the layout decides the heights
    getItemKey: useCallback((index: number) => index, [layout]), // oxlint-disable-line react-hooks/exhaustive-deps
    overscan: linesBeyondEdges,
    // Height in pixels that the sticky titles of the group and the case cover.
    scrollPaddingStart: heights.group + (groups.some(({ cases }) => cases.length > 0) ? heights.case : 0),
    initialOffset: rememberedScroll,
    // Also renders the current line, wherever the list is scrolled.
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range); // the visible lines and the overscan
      if (currentIndex === -1 || indexes.includes(currentIndex)) return indexes;
      return [...indexes, currentIndex].sort((a, b) => a - b);
    },
  });

  const renderedLines = virtualizer.getVirtualItems().flatMap(({ index }) => layout.lineAt(index) ?? []);
  const neededPages = pagesOf(renderedLines, groups);
  const isPageMissing = neededPages.some((page) => !requestedPages.includes(page));
  // Rows that pass by while a user scrolls quickly are not loaded: a missing page is requested only when the list
  // stands still, or when a needed page is among the requested ones or next to them. The state is set during rendering,
  // so that `useImageRows` loads the pages immediately.
  const isNearRequestedPage = neededPages.some((page) =>
    requestedPages.some((requestedPage) => Math.abs(page - requestedPage) <= 1),
  );
  const needsOtherPages = neededPages.join() !== requestedPages.join();
  if (needsOtherPages && (!isPageMissing || isNearRequestedPage || !virtualizer.isScrolling))
    setRequestedPages(neededPages);
  useEffect(() => {
    pages.current = requestedPages;
  }, [pages, requestedPages]);

  // When the catalogue changes, `useScrollAnchor` keeps the visible rows in their place on the screen.
  const onScrolled = useScrollAnchor(scroller, { lines, listKey }, heights.group, (top) =>
    virtualizer.scrollToOffset(top),
  );
  const reveal = useCallback(
    (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
    [virtualizer],
  );
  const { moveTo, handlers } = useListKeys({
    scroller,
    lines,
    currentIndex,
    setCurrent,
    onToggle,
    reveal,
    rowHeight: heights.image,
  });
  useImperativeHandle(ref, () => ({ focus: () => moveTo(currentIndex) }));

  // Scrolls once to each selected image, as soon as the list contains it. If a line has the focus, the focus moves to the image.
  const revealedId = useRef<string | null>(null);
  const lastHeight = useRef(0);
  useEffect(() => {
    const heightBefore = lastHeight.current;
    const height = virtualizer.scrollRect?.height ?? 0;
    lastHeight.current = height;
    if (selectedIndex === -1) return;
    // Scrolls only if needed: even scrolling by 0 pixels makes the browser lay out the page, which the opening slide has just changed.
    const isInSight = isFullyVisible(virtualizer, selectedIndex, height);
    if (revealedId.current === selectedId) {
      // The details of the selected image, which appear below the list, must not cover its line.
      if (!isInSight && isFullyVisible(virtualizer, selectedIndex, heightBefore)) reveal(selectedIndex);
      return;
    }
    revealedId.current = selectedId;
    if (scroller.current?.contains(document.activeElement)) moveTo(selectedIndex, isInSight);
    else if (!isInSight) reveal(selectedIndex);
  });

  return (
    <div
      ref={scroller}
      className={classes.list}
      aria-busy={isBusy || undefined}
      onScroll={(event) => {
        thumbnailQueue.noteScroll();
        rememberScroll(event.currentTarget.scrollTop);
        onScrolled();
      }}
      {...handlers}
    >
      <div className={classes.lines} style={{ height: virtualizer.getTotalSize() }}>
        {sectionsOf(lines, renderedLines).map(({ groupLine, imageLists }) => (
          <section
            key={lines.keyAt(groupLine.index)}
            className={classes.group}
            style={{ top: groupLine.top, height: groupLine.height }}
          >
            {titleOf(groupLine)}
            {imageLists.map(({ caseLine, images }) =>
              caseLine === null ? (
                rowsOf(images, groupLine)
              ) : (
                <section
                  key={branchOf(caseLine).key}
                  className={classes.case}
                  style={{ top: caseLine.top - groupLine.top, height: caseLine.height }}
                >
                  {titleOf(caseLine)}
                  {rowsOf(images, caseLine)}
                </section>
              ),
            )}
          </section>
        ))}
      </div>
    </div>
  );

  function titleOf(line: GroupLine | CaseLine) {
    return (
      <BranchTitle
        line={line}
        lineKey={lines.keyAt(line.index) ?? ''}
        isTabStop={currentIndex === line.index}
        onToggle={onToggle}
      />
    );
  }

  /** Renders the images of a case, or those of a group that are in no case. */
  function rowsOf(images: readonly ImageLine[], { height, kind }: GroupLine | CaseLine) {
    const [firstImage] = images;
    if (firstImage === undefined) return null;
    /** Height of all images of the group or case, rendered or not. */
    const rowsHeight = firstImage.count * heights.image;
    return (
      <ul
        key="rows"
        className={classes.rows}
        // The images are at the end of their group or case. In a group, its cases are above them.
        style={{ height: rowsHeight, marginTop: height - heights[kind] - rowsHeight }}
      >
        {images.map((line) => {
          const key = lines.keyAt(line.index) ?? '';
          return (
            <ImageRow
              key={key}
              lineKey={key}
              image={lines.imageOf(line)}
              indexInBranch={line.indexInBranch}
              count={line.count}
              top={line.indexInBranch * heights.image}
              isSelected={key === selectedId}
              isTabStop={line.index === currentIndex}
              {...rowProps}
            />
          );
        })}
      </ul>
    );
  }
}

/**
 * Returns whether a line is completely visible, and not covered by sticky titles, in a list of this height at the scroll position that
 * the virtualizer last measured.
 *
 * @param height in pixels
 */
function isFullyVisible(
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  index: number,
  height: number,
): boolean {
  const { scrollOffset, options } = virtualizer;
  const line = virtualizer.getVirtualItems().find((item) => item.index === index);
  if (line === undefined || scrollOffset === null) return false;
  return line.start >= scrollOffset + options.scrollPaddingStart && line.end <= scrollOffset + height;
}

/**
 * Returns the pages that contain the rows of these lines and `rowsBeyondRendered` rows before and after them, in ascending order. A page
 * has more rows than `rowsBeyondRendered`, so three positions per line suffice: the line and both ends of its range.
 */
function pagesOf(renderedLines: readonly Line[], groups: readonly DatasetGroup[]): readonly number[] {
  const pages = new Set<number>();
  const lastGroup = groups.at(-1);
  const lastPosition = lastGroup === undefined ? 0 : lastGroup.start + lastGroup.count - 1;
  for (const line of renderedLines) {
    if (line.kind !== 'image') continue;
    for (const position of [
      line.position - rowsBeyondRendered,
      line.position,
      line.position + rowsBeyondRendered,
    ]) {
      pages.add(Math.floor(Math.max(0, Math.min(lastPosition, position)) / rowsPerPage));
    }
  }
  return [...pages].sort((a, b) => a - b);
}

/** Converts `lineHeightsInRem` to pixels with the font size of the page, which is 16 px by default. */
function heightsInPixels(): LineHeights {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  return {
    group: lineHeightsInRem.group * rem,
    case: lineHeightsInRem.case * rem,
    image: lineHeightsInRem.image * rem,
  };
}

interface Section {
  readonly groupLine: GroupLine;
  /** The rendered images, one list per rendered case; `caseLine` is null for the images without a case. */
  readonly imageLists: readonly {
    readonly caseLine: CaseLine | null;
    readonly images: readonly ImageLine[];
  }[];
}

/** Returns the groups to render, each with its line and its rendered images by case. */
function sectionsOf({ layout }: CatalogueLines, renderedLines: readonly Line[]): readonly Section[] {
  return [...Map.groupBy(renderedLines, (line) => line.groupLineIndex)].flatMap(
    ([groupLineIndex, linesOfGroup]) => {
      const groupLine = layout.lineAt(groupLineIndex);
      if (groupLine?.kind !== 'group') return [];
      const linesBelowTitle = linesOfGroup.filter((line) => line.kind !== 'group');
      /** Index of the line of the case; null for an image without a case. */
      const caseIndexOf = (line: CaseLine | ImageLine) =>
        (line.kind === 'case' ? line : line.caseLine)?.index ?? null;
      const imageLists = [...Map.groupBy(linesBelowTitle, caseIndexOf)].map(([caseIndex, linesOfCase]) => {
        const caseLine = caseIndex === null ? undefined : layout.lineAt(caseIndex);
        return {
          caseLine: caseLine?.kind === 'case' ? caseLine : null,
          images: linesOfCase.filter((line) => line.kind === 'image'),
        };
      });
      return [{ groupLine, imageLists }];
    },
  );
}
