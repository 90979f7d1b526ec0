/** A part of the panel of result layers (such as computed heatmaps): palette and range of the values that a layer shows. */
import { NativeSelect, RangeSlider } from '@mantine/core';
import { formatMeasuredValue } from '../../formatting/numbers.ts';
import { gradientOf, paletteNames } from './palettes.ts';
import classes from './Results.module.css';
import type { RasterStyle } from './raster-style.ts';
import { texts } from './texts.ts';

type ValueStyle = Pick<RasterStyle, 'palette' | 'minValue' | 'maxValue'>;

interface ValueRangeProps {
  /** Lowest and highest value of the content, the ends of the slider. */
  readonly min: number;
  readonly max: number;
  /** Whether the layer shows the values as colours of the palette. */
  readonly isColoured: boolean;
  /** Values that have the first and the last colour of the palette; by default `min` and `max`. */
  readonly colourRange?: { readonly min: number; readonly max: number };
  readonly style: ValueStyle;
  readonly onChange: (change: Partial<ValueStyle>) => void;
}

/** The choice of the palette of a result layer, and a slider with two thumbs for the range of values that the layer shows. */
export function ValueRange({ min, max, isColoured, colourRange, style, onChange }: ValueRangeProps) {
  /** Returns the position of a value on the slider, 0 to 1. */
  const positionOf = (value: number) => (max > min ? (value - min) / (max - min) : 0);
  return (
    <>
      {isColoured && (
        <>
          <NativeSelect
            size="xs"
            label={texts.palette}
            value={style.palette}
            data={paletteNames.map((value) => ({
              value,
              label: value.charAt(0).toUpperCase() + value.slice(1),
            }))}
            onChange={({ currentTarget }) =>
              onChange({ palette: paletteNames.find((name) => name === currentTarget.value) ?? 'viridis' })
            }
          />
          <div
            className={classes.scale}
            style={{
              background: gradientOf(
                style.palette,
                colourRange && positionOf(colourRange.min),
                colourRange && positionOf(colourRange.max),
              ),
            }}
            aria-hidden="true"
          />
        </>
      )}
      {/* The slider has 200 steps. When all values are equal, its range has a length of 1. */}
      <RangeSlider
        size="sm"
        min={min}
        max={max > min ? max : min + 1}
        step={(max > min ? max - min : 1) / 200}
        minRange={0}
        label={formatMeasuredValue}
        thumbFromLabel={texts.from}
        thumbToLabel={texts.to}
        value={[style.minValue, style.maxValue]}
        onChange={([minValue, maxValue]) => onChange({ minValue, maxValue })}
      />
      <div className={classes.ends}>
        <span>{formatMeasuredValue(style.minValue)}</span>
        <span>{formatMeasuredValue(style.maxValue)}</span>
      </div>
    </>
  );
}
