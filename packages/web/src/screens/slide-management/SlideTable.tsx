import type { ManagedImage } from '@lamina/contract';
import { Checkbox, VisuallyHidden } from '@mantine/core';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { DialogRequest } from './dialog-request.ts';
import classes from './SlideManagement.module.css';
import { SlideRow } from './SlideRow.tsx';
import { texts } from './texts.ts';

interface SlideTableProps {
  /** In the order of the catalogue, not empty. */
  readonly slides: readonly ManagedImage[];
  /** Ids. */
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (slides: readonly ManagedImage[], isSelected: boolean) => void;
  readonly onAsk: (request: DialogRequest) => void;
  /** The last rows have come near. */
  readonly onEndNear: () => void;
}

type Line =
  | { readonly kind: 'dataset'; readonly name: string | null }
  | { readonly kind: 'slide'; readonly slide: ManagedImage };

const columns = ['slide', 'state', 'format', 'size', 'scale'] as const;
/** Checkbox and actions. */
const columnCount = columns.length + 2;
const usualHeights = { dataset: 52, slide: 76 };
const linesBeyondEdges = 10;
const linesBeforeEnd = 20;

/** Entries under their datasets. Of a long list only the rows in sight, and some around them, are in the page. */
export function SlideTable({ slides, selected, onSelect, onAsk, onEndNear }: SlideTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const lines = useMemo(() => linesOf(slides), [slides]);
  useLayoutEffect(() => {
    const measure = () => setTop((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    // What stands above the list comes and goes.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  // The React compiler, which is not used, could not remember what it returns.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => usualHeights[lines[index]?.kind ?? 'slide'],
    getItemKey: useCallback((index: number) => keyOf(lines[index], index), [lines]),
    overscan: linesBeyondEdges,
    scrollMargin: top,
  });
  const inPage = virtualizer.getVirtualItems();
  const lastIndex = inPage.at(-1)?.index ?? 0;
  const isEndNear = lastIndex >= lines.length - linesBeforeEnd;
  useEffect(() => {
    if (isEndNear) onEndNear();
  }, [isEndNear, onEndNear]);

  const before = (inPage[0]?.start ?? top) - top;
  const after = virtualizer.getTotalSize() - ((inPage.at(-1)?.end ?? top) - top);
  const chosen = slides.filter(({ id }) => selected.has(id)).length;
  return (
    <table className={classes.table} aria-label={texts.list} aria-rowcount={lines.length + 1}>
      <thead className={classes.head}>
        <tr aria-rowindex={1}>
          <td>
            <Checkbox
              label={<span className={classes.selectLabel}>{texts.selectShown}</span>}
              checked={chosen > 0 && chosen === slides.length}
              indeterminate={chosen > 0 && chosen < slides.length}
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
        <Gap height={before} />
        {inPage.map(({ index, key }) => {
          const line = lines[index];
          if (line === undefined) return null;
          const place = {
            'data-index': index,
            'aria-rowindex': index + 2,
            ref: virtualizer.measureElement,
          };
          if (line.kind === 'dataset') {
            return (
              <tr key={key} className={classes.dataset} {...place}>
                <th colSpan={columnCount}>{line.name ?? texts.noDataset}</th>
              </tr>
            );
          }
          const { slide } = line;
          return (
            <SlideRow
              key={key}
              slide={slide}
              place={place}
              isSelected={selected.has(slide.id)}
              onSelect={(isSelected) => onSelect([slide], isSelected)}
              onAsk={onAsk}
            />
          );
        })}
        <Gap height={after} />
      </tbody>
    </table>
  );
}

/** Takes the place of the rows that are not in the page. */
function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr className={classes.gap} aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td colSpan={columnCount} style={{ height }} />
    </tr>
  );
}

function linesOf(slides: readonly ManagedImage[]): readonly Line[] {
  return slides.flatMap((slide, place): Line[] => {
    const isFirst = place === 0 || slides[place - 1]?.dataset_name !== slide.dataset_name;
    const line: Line = { kind: 'slide', slide };
    return isFirst ? [{ kind: 'dataset', name: slide.dataset_name }, line] : [line];
  });
}

function keyOf(line: Line | undefined, index: number): string | number {
  if (line === undefined) return index;
  return line.kind === 'slide' ? line.slide.id : `dataset ${line.name ?? ''}`;
}
