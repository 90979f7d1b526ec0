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
   * Called, possibly repeatedly, when fewer than `rowsBeforeEnd` rows follow the last rendered row. Must load the next page of slides,
   * unless that page is loading already.
   */
  readonly onNearEnd: () => void;
}

/** A row of the table: the heading of a dataset (null: slides without a dataset), or a slide. */
type TableRow =
  | { readonly kind: 'dataset'; readonly name: string | null }
  | { readonly kind: 'slide'; readonly slide: ManagedImage };

/** Keys of the column headings in `texts`. */
const columns = ['slide', 'state', 'format', 'size', 'scale'] as const;
/** The columns above, and those of the checkbox and the action menu. */
const columnCount = columns.length + 2;
const estimatedHeightsPx = { dataset: 52, slide: 76 };
/** Number of rows that are rendered above and below the visible ones. */
const overscanRows = 10;
/** The next page is loaded when fewer than this many rows follow the last rendered one. */
const rowsBeforeEnd = 20;

/**
 * Table of slides with a heading row for each dataset. The table is virtual: it renders only the visible rows and a few rows above
 * and below them. Two empty rows, the first and the last, are as high as the rows that are not rendered.
 */
export function SlideTable(props: SlideTableProps) {
  const { slides, selectedIds, onSelect, onOpenDialog, onNearEnd } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  /** Distance of the table body from the top of the document, in CSS pixels. */
  const [bodyTop, setBodyTop] = useState(0);
  const rows = useMemo(() => rowsOf(slides), [slides]);
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
    count: rows.length,
    estimateSize: (index) => estimatedHeightsPx[rows[index]?.kind ?? 'slide'],
    getItemKey: useCallback((index: number) => keyOf(rows[index], index), [rows]),
    overscan: overscanRows,
    scrollMargin: bodyTop,
  });
  const renderedRows = virtualizer.getVirtualItems();
  const lastRenderedIndex = renderedRows.at(-1)?.index ?? 0;
  const isNearEnd = lastRenderedIndex >= rows.length - rowsBeforeEnd;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, onNearEnd]);

  // The virtualizer counts `start` and `end` from the top of the document, but the total size from the top of the table body.
  const heightBefore = (renderedRows[0]?.start ?? bodyTop) - bodyTop;
  const heightAfter = virtualizer.getTotalSize() - ((renderedRows.at(-1)?.end ?? bodyTop) - bodyTop);
  const selectedCount = slides.filter(({ id }) => selectedIds.has(id)).length;
  return (
    <table className={classes.table} aria-label={texts.list} aria-rowcount={rows.length + 1}>
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
        {renderedRows.map(({ index, key }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const rowProps = {
            'data-index': index,
            'aria-rowindex': index + 2, // row 1 contains the column headings
            ref: virtualizer.measureElement,
          };
          if (row.kind === 'dataset') {
            return (
              <tr key={key} className={classes.dataset} {...rowProps}>
                <th colSpan={columnCount}>{row.name ?? texts.noDataset}</th>
              </tr>
            );
          }
          const { slide } = row;
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

/** Empty row with the height, in pixels, of rows that are not rendered. */
function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr className={classes.spacer} aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td colSpan={columnCount} style={{ height }} />
    </tr>
  );
}

/** Returns a row for each slide, and a dataset row before the first slide of each dataset. */
function rowsOf(slides: readonly ManagedImage[]): readonly TableRow[] {
  return slides.flatMap((slide, index): TableRow[] => {
    const isFirstOfDataset = index === 0 || slides[index - 1]?.dataset_name !== slide.dataset_name;
    const row: TableRow = { kind: 'slide', slide };
    return isFirstOfDataset ? [{ kind: 'dataset', name: slide.dataset_name }, row] : [row];
  });
}

function keyOf(row: TableRow | undefined, index: number): string | number {
  if (row === undefined) return index;
  return row.kind === 'slide' ? row.slide.id : `dataset ${row.name ?? ''}`;
}
