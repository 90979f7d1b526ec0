import type { ManagedImage } from '@lamina/contract';
import { Checkbox, VisuallyHidden } from '@mantine/core';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { DialogRequest } from './dialog-request.ts';
import classes from './SlideManagement.module.css';
import { SlideRow } from './SlideRow.tsx';
import { texts } from './texts.ts';

interface SlideTableProps {
  /** The loaded slides, ordered by dataset; not empty. */
  readonly slides: readonly ManagedImage[];
  readonly selectedIds: ReadonlySet<string>;
  readonly onSelect: (slides: readonly ManagedImage[], isSelected: boolean) => void;
  readonly onOpenDialog: (request: DialogRequest) => void;
  /**
   * Called, possibly repeatedly, while fewer than `linesBeforeEnd` lines follow the last rendered one. Must load the next page of slides,
   * unless that page is loading already.
   */
  readonly onNearEnd: () => void;
}

/** A row of the table: the heading of a dataset (null: slides without a dataset), or a slide. */
type Line =
  | { readonly kind: 'dataset'; readonly name: string | null }
  | { readonly kind: 'slide'; readonly slide: ManagedImage };

/** Keys of the column headings in `texts`. */
const columns = ['slide', 'state', 'format', 'size', 'scale'] as const;
/** The columns above, and those of the checkbox and the action menu. */
const columnCount = columns.length + 2;
const estimatedHeightsPx = { dataset: 52, slide: 76 };
/** Number of lines that are rendered above and below the visible ones. */
const overscanLines = 10;
/** The next page is loaded when fewer than this many lines follow the last rendered one. */
const linesBeforeEnd = 20;

/**
 * Table of slides with a heading line for each dataset. The table is virtual: it renders only the visible lines and a few lines above
 * and below them. Two empty rows, the first and the last, are as high as the lines that are not rendered.
 */
export function SlideTable(props: SlideTableProps) {
  const { slides, selectedIds, onSelect, onOpenDialog, onNearEnd } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  /** Distance of the table body from the top of the document, in CSS pixels. */
  const [bodyTop, setBodyTop] = useState(0);
  const lines = useMemo(() => linesOf(slides), [slides]);
  useLayoutEffect(() => {
    const measure = () => setBodyTop((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    // When a section above the table opens or closes, the table moves and the height of the page changes.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  // oxlint warns that the React compiler cannot memoise this component; the project does not use the compiler.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => estimatedHeightsPx[lines[index]?.kind ?? 'slide'],
    getItemKey: useCallback((index: number) => keyOf(lines[index], index), [lines]),
    overscan: overscanLines,
    scrollMargin: bodyTop,
  });
  const renderedLines = virtualizer.getVirtualItems();
  const lastIndex = renderedLines.at(-1)?.index ?? 0;
  const isNearEnd = lastIndex >= lines.length - linesBeforeEnd;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, onNearEnd]);

  // The virtualizer counts `start` and `end` from the top of the document, but the total size from the top of the table body.
  const heightBefore = (renderedLines[0]?.start ?? bodyTop) - bodyTop;
  const heightAfter = virtualizer.getTotalSize() - ((renderedLines.at(-1)?.end ?? bodyTop) - bodyTop);
  const selectedCount = slides.filter(({ id }) => selectedIds.has(id)).length;
  return (
    <table className={classes.table} aria-label={texts.list} aria-rowcount={lines.length + 1}>
      <thead className={classes.head}>
        <tr aria-rowindex={1}>
          <td>
            <Checkbox
              label={<span className={classes.selectLabel}>{texts.selectShown}</span>}
              checked={selectedCount > 0 && selectedCount === slides.length}
              indeterminate={selectedCount > 0 && selectedCount < slides.length}
              onChange={({ currentTarget }) => onSelect(slides, currentTarget.checked)}
            />
          </td>
          {columns.map((column) => (
            <th key={column} scope="col">
              {texts[column]}
            </th>
          ))}
          <th scope="col">
            <VisuallyHidden>{texts.actions}</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        <Spacer height={heightBefore} />
        {renderedLines.map(({ index, key }) => {
          const line = lines[index];
          if (line === undefined) return null;
          const rowProps = {
            'data-index': index,
            'aria-rowindex': index + 2, // row 1 contains the column headings
            ref: virtualizer.measureElement,
          };
          if (line.kind === 'dataset') {
            return (
              <tr key={key} className={classes.dataset} {...rowProps}>
                <th colSpan={columnCount}>{line.name ?? texts.noDataset}</th>
              </tr>
            );
          }
          const { slide } = line;
          return (
            <SlideRow
              key={key}
              slide={slide}
              rowProps={rowProps}
              isSelected={selectedIds.has(slide.id)}
              onSelect={(isSelected) => onSelect([slide], isSelected)}
              onOpenDialog={onOpenDialog}
            />
          );
        })}
        <Spacer height={heightAfter} />
      </tbody>
    </table>
  );
}

/** Empty row with the height, in pixels, of lines that are not rendered. */
function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr className={classes.spacer} aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td colSpan={columnCount} style={{ height }} />
    </tr>
  );
}

/** Returns a line for each slide, and a dataset line before the first slide of each dataset. */
function linesOf(slides: readonly ManagedImage[]): readonly Line[] {
  return slides.flatMap((slide, index): Line[] => {
    const isFirstOfDataset = index === 0 || slides[index - 1]?.dataset_name !== slide.dataset_name;
    const line: Line = { kind: 'slide', slide };
    return isFirstOfDataset ? [{ kind: 'dataset', name: slide.dataset_name }, line] : [line];
  });
}

function keyOf(line: Line | undefined, index: number): string | number {
  if (line === undefined) return index;
  return line.kind === 'slide' ? line.slide.id : `dataset ${line.name ?? ''}`;
}
