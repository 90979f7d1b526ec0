/** A part of the panel of result layers: the settings of a layer of objects, such as detected cells. */
import type { VectorDescriptor } from '@lamina/contract';
import { Button, Checkbox, NativeSelect } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { saveFile } from '../../browser/save-file.ts';
import { type Counts, countsAsCsv } from './count-objects.ts';
import { Legend } from './Legend.tsx';
import { type LayerStyle, measurementRange } from './layer-style.ts';
import { texts } from './texts.ts';
import type { Areas } from './use-areas.ts';
import { ValueRange } from './ValueRange.tsx';

interface VectorSettingsProps {
  readonly descriptor: VectorDescriptor;
  readonly style: LayerStyle;
  /** Numbers of objects in the field of view or in the chosen area, by class name; null: not counted. */
  readonly counts: Counts | null;
  /** The annotated areas in which the user can have the objects counted. */
  readonly areas: Areas;
  readonly onChange: (style: Partial<LayerStyle>) => void;
}

/** Settings of a layer of objects: filters by class and measurement, colours, and the counts with their export. */
export function VectorSettings({ descriptor, style, counts, areas, onChange }: VectorSettingsProps) {
  /** Index of the measurement that filters the objects; null if there is no filter. */
  const { measurementIndex } = style;
  /** Choices of the filter: the measurements that at least one object has. */
  const measurementChoices = descriptor.measurements.flatMap(({ name, count }, index) =>
    count === 0 ? [] : [{ value: String(index), label: name }],
  );
  const chooseMeasurement = (value: string) => {
    if (value === '') return onChange({ measurementIndex: null, isColoured: false });
    const { min, max } = measurementRange(descriptor, Number(value));
    return onChange({ measurementIndex: Number(value), minValue: min, maxValue: max });
  };
  const countedPart = areas.chosen?.label ?? texts.fieldOfView;
  const exportCounts = () => {
    if (counts === null) return;
    // The filter in three columns: measurement, minimum and maximum.
    const filterCells =
      measurementIndex === null
        ? ['', '', '']
        : [descriptor.measurements[measurementIndex]?.name ?? '', style.minValue, style.maxValue];
    const rows = descriptor.classes.flatMap(({ name }, index) =>
      style.hidden.has(index)
        ? []
        : [[descriptor.name, countedPart, name, ...filterCells, counts[name] ?? 0]],
    );
    saveFile(countsAsCsv([texts.csvHead, ...rows]), `${descriptor.name}.csv`);
  };
  /** Returns the text above the legend that says in which part of the slide the objects are counted. */
  const noteOnCounts = () => {
    if (counts === null) return texts.total(descriptor.object_count);
    return areas.chosen === null ? texts.inView : texts.inArea(areas.chosen.label);
  };
  return (
    <>
      {areas.listed.length > 0 && (
        <NativeSelect
          size="xs"
          label={texts.countIn}
          value={areas.chosen?.id ?? ''}
          data={[
            { value: '', label: texts.fieldOfView },
            ...areas.listed.map(({ id, label }) => ({ value: id, label })),
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
        note={noteOnCounts()}
      />
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<IconDownload size={14} aria-hidden />}
        disabled={counts === null}
        onClick={exportCounts}
      >
        {texts.exportCounts}
      </Button>
      {measurementChoices.length > 0 && (
        <NativeSelect
          size="xs"
          label={texts.measurement}
          value={measurementIndex === null ? '' : String(measurementIndex)}
          data={[{ value: '', label: texts.noFilter }, ...measurementChoices]}
          onChange={({ currentTarget }) => chooseMeasurement(currentTarget.value)}
        />
      )}
      {measurementIndex !== null && (
        <>
          <Checkbox
            size="xs"
            label={texts.colourByMeasurement}
            checked={style.isColoured}
            onChange={({ currentTarget }) => onChange({ isColoured: currentTarget.checked })}
          />
          <ValueRange
            {...measurementRange(descriptor, measurementIndex)}
            isColoured={style.isColoured}
            style={style}
            onChange={onChange}
          />
        </>
      )}
    </>
  );
}
