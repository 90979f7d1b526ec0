import { VisuallyHidden } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import type { CatalogueImage } from '../../api/images.ts';
import {
  type DatasetGroup,
  type GroupLine,
  type ImageLine,
  indexOfLine,
  type Line,
  type LineHeights,
  linesOf,
} from './catalogue.ts';
import { rememberedScroll, rememberScroll } from './catalogue-place.ts';
import classes from './ImageCatalog.module.css';
import { ImageRow } from './ImageRow.tsx';
import { useCurrentLine, useListKeys } from './list-keys.ts';
import { texts } from './texts.ts';
import { thumbnailGate } from './thumbnail-gate.ts';
import { useStillness } from './use-stillness.ts';

/** As in ImageCatalog.module.css, in rem. */
const lineHeights: LineHeights = { group: 2.75, image: 4 };
/** Lines that are in the page beyond either edge, so that their thumbnails are there when they come into sight. */
const beyondEdges = 6;

export interface CatalogueListHandle {
  /** Gives the focus to the line that Tab leads to. */
  focus(): void;
}

interface CatalogueListProps {
  readonly ref: Ref<CatalogueListHandle>;
  /** Not empty. */
  readonly groups: readonly DatasetGroup[];
  /** Another one is another list, which begins at its top. */
  readonly listKey: string;
  readonly isOpen: (group: DatasetGroup) => boolean;
  readonly onToggle: (group: DatasetGroup, isOpen: boolean) => void;
  readonly selectedId: string | null;
  readonly session: string | null;
  readonly onPress: (image: CatalogueImage) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
}

/**
 * Groups and their images, of which only those in sight are in the page, and the one that Tab leads to: so the
 * focus stays where it is however far the list is scrolled.
 */
export function CatalogueList(props: CatalogueListProps) {
  const { ref, groups, listKey, isOpen, onToggle, selectedId, ...rowProps } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [heights] = useState(heightsInPixels);
  const lines = useMemo(() => linesOf(groups, isOpen, heights), [groups, isOpen, heights]);
  const selectedIndex = useMemo(() => indexOfLine(lines, selectedId), [lines, selectedId]);
  const { currentIndex, setCurrent } = useCurrentLine(lines, selectedId, selectedIndex);

  // The React compiler, which is not used, could not remember what it returns.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heights[lines[index]?.kind ?? 'image'],
    // Another function makes the library look at every line again.
    getItemKey: useCallback((index: number) => lines[index]?.key ?? index, [lines]),
    overscan: beyondEdges,
    scrollPaddingStart: heights.group, // covered by the title that stays in sight
    initialOffset: rememberedScroll,
    rangeExtractor: (range) => {
      const inSight = defaultRangeExtractor(range);
      if (currentIndex === -1 || inSight.includes(currentIndex)) return inSight;
      return [...inSight, currentIndex].sort((a, b) => a - b);
    },
  });

  const onScrolled = useStillness(scroller, { groups, lines, listKey }, heights.group, (top) =>
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

  // What is chosen elsewhere comes into sight, once.
  const revealedId = useRef<string | null>(null);
  useEffect(() => {
    if (revealedId.current === selectedId || selectedIndex === -1) return;
    revealedId.current = selectedId;
    reveal(selectedIndex);
  }, [selectedId, selectedIndex, reveal]);

  const current = lines[currentIndex]?.key;
  const inPage = virtualizer.getVirtualItems().flatMap(({ index }) => lines[index] ?? []);
  return (
    <div
      ref={scroller}
      className={classes.list}
      onScroll={(event) => {
        thumbnailGate.scrolled();
        rememberScroll(event.currentTarget.scrollTop);
        onScrolled();
      }}
      {...handlers}
    >
      <div className={classes.lines} style={{ height: virtualizer.getTotalSize() }}>
        {sectionsOf(lines, inPage).map(({ title, images }) => {
          const { group, key: titleKey } = title;
          const rowsHeight = title.isOpen ? group.entries.length * heights.image : 0;
          return (
            <section
              key={titleKey}
              className={classes.group}
              style={{ top: title.top, height: heights.group + rowsHeight }}
            >
              <h2 className={classes.groupTitle}>
                <button
                  type="button"
                  className={classes.groupButton}
                  data-line={titleKey}
                  tabIndex={current === titleKey ? 0 : -1}
                  aria-expanded={title.isOpen}
                  onClick={() => onToggle(group, !title.isOpen)}
                >
                  <IconChevronRight className={classes.chevron} size={18} aria-hidden />
                  <span className={classes.groupName} title={group.name}>
                    {group.name}
                  </span>{' '}
                  <span className={classes.count}>
                    {group.entries.length} <VisuallyHidden>{texts.images}</VisuallyHidden>
                  </span>
                </button>
              </h2>
              {images.length > 0 && (
                <ul className={classes.rows} style={{ height: rowsHeight }}>
                  {images.map(({ key, entry, place }) => (
                    <ImageRow
                      key={key}
                      entry={entry}
                      place={place}
                      count={group.entries.length}
                      top={place * heights.image}
                      isSelected={key === selectedId}
                      isCurrent={key === current}
                      {...rowProps}
                    />
                  ))}
                </ul>
              )}
            </section>
          );
        })}
      </div>
    </div>
  );
}

function heightsInPixels(): LineHeights {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  return { group: lineHeights.group * rem, image: lineHeights.image * rem };
}

/** Of the lines that are in the page, the title of each group and its images. */
function sectionsOf(
  lines: readonly Line[],
  inPage: readonly Line[],
): readonly { readonly title: GroupLine; readonly images: readonly ImageLine[] }[] {
  return [...Map.groupBy(inPage, ({ title }) => title)].flatMap(([titleIndex, members]) => {
    const title = lines[titleIndex];
    const images = members.filter((line) => line.kind === 'image');
    return title?.kind === 'group' ? [{ title, images }] : [];
  });
}
