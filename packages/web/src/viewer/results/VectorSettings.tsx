import type { VectorDescriptor } from '@lamina/contract';
import { Button, Checkbox, NativeSelect } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { saveFile } from '../../browser/save-file.ts';
import { type Counts, countsAsCsv } from './count-objects.ts';
import { Legend } from './Legend.tsx';
import { type LayerStyle, measurementRange } from './object-filter.ts';
import { texts } from './texts.ts';
import type { Areas } from './use-areas.ts';
import { ValueRange } from './ValueRange.tsx';

interface VectorSettingsProps {
  readonly descriptor: VectorDescriptor;
  readonly style: LayerStyle;
  /** In the field of view or in the chosen area by class; null: not known. */
  readonly counts: Counts | null;
  readonly areas: Areas;
  readonly onChange: (style: Partial<LayerStyle>) => void;
}

/** Filter by class and measurement, colours and counts of a layer of objects. */
export function VectorSettings({ descriptor, style, counts, areas, onChange }: VectorSettingsProps) {
  const { column } = style;
  const measured = descriptor.measurements.flatMap(({ name, count }, index) =>
    count === 0 ? [] : [{ value: String(index), label: name }],
  );
  const chooseColumn = (value: string) => {
    if (value === '') return onChange({ column: null, isColoured: false });
    const { min, max } = measurementRange(descriptor, Number(value));
    return onChange({ column: Number(value), from: min, to: max });
  };
  const region = areas.chosen?.label ?? texts.fieldOfView;
  const save = () => {
    if (counts === null) return;
    const filter =
      column === null ? ['', '', ''] : [descriptor.measurements[column]?.name ?? '', style.from, style.to];
    const rows = descriptor.classes.flatMap(({ name }, index) =>
      style.hidden.has(index) ? [] : [[descriptor.name, region, name, ...filter, counts[name] ?? 0]],
    );
    saveFile(countsAsCsv([texts.csvHead, ...rows]), `${descriptor.name}.csv`);
  };
  return (
    <>
      {areas.areas.length > 0 && (
        <NativeSelect
          size="xs"
          label={texts.countIn}
          value={areas.chosen?.id ?? ''}
          data={[
            { value: '', label: texts.fieldOfView },
            ...areas.areas.map(({ id, label }) => ({ value: id, label })),
          ]}
          onChange={({ currentTarget }) =>
            areas.choose(currentTarget.value === '' ? null : currentTarget.value)
          }
        />
      )}
      <Legend
        entries={descriptor.classes.map(({ name: label, color, count }, key) => ({
          key,
          label,
          color,
          count: counts === null ? count : (counts[label] ?? 0),
        }))}
        hidden={style.hidden}
        onHide={(hidden) => onChange({ hidden })}
        note={
          counts === null
            ? texts.total(descriptor.object_count)
            : areas.chosen === null
              ? texts.inView
              : texts.inArea(areas.chosen.label)
        }
      />
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<IconDownload size={14} aria-hidden />}
        disabled={counts === null}
        onClick={save}
      >
        {texts.exportCounts}
      </Button>
      {measured.length > 0 && (
        <NativeSelect
          size="xs"
          label={texts.measurement}
          value={column === null ? '' : String(column)}
          data={[{ value: '', label: texts.noFilter }, ...measured]}
          onChange={({ currentTarget }) => chooseColumn(currentTarget.value)}
        />
      )}
      {column !== null && (
        <>
          <Checkbox
            size="xs"
            label={texts.colourByMeasurement}
            checked={style.isColoured}
            onChange={({ currentTarget }) => onChange({ isColoured: currentTarget.checked })}
          />
          <ValueRange
            {...measurementRange(descriptor, column)}
            isColoured={style.isColoured}
            style={style}
            onChange={onChange}
          />
        </>
      )}
    </>
  );
}
