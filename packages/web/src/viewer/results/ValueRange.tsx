import { NativeSelect, RangeSlider } from '@mantine/core';
import { formatFigure } from '../../formatting/numbers.ts';
import { gradientOf, paletteNames } from './palettes.ts';
import classes from './Results.module.css';
import type { RasterStyle } from './raster-style.ts';
import { texts } from './texts.ts';

interface ValueRangeProps {
  readonly min: number;
  readonly max: number;
  /** Whether the values are shown as colours of the palette. */
  readonly isColoured: boolean;
  /** Range over which the palette is spread; absent: min to max. */
  readonly colours?: { readonly min: number; readonly max: number };
  readonly style: Pick<RasterStyle, 'palette' | 'from' | 'to'>;
  readonly onChange: (style: Partial<Pick<RasterStyle, 'palette' | 'from' | 'to'>>) => void;
}

/** Palette and thresholds of values. */
export function ValueRange({ min, max, isColoured, colours, style, onChange }: ValueRangeProps) {
  const shareOf = (value: number) => (max > min ? (value - min) / (max - min) : 0);
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
              onChange({ palette: paletteNames.find((each) => each === currentTarget.value) ?? 'viridis' })
            }
          />
          <div
            className={classes.scale}
            style={{
              background: gradientOf(
                style.palette,
                colours && shareOf(colours.min),
                colours && shareOf(colours.max),
              ),
            }}
            aria-hidden="true"
          />
        </>
      )}
      <RangeSlider
        size="sm"
        min={min}
        max={max > min ? max : min + 1}
        step={(max > min ? max - min : 1) / 200}
        minRange={0}
        label={formatFigure}
        thumbFromLabel={texts.from}
        thumbToLabel={texts.to}
        value={[style.from, style.to]}
        onChange={([from, to]) => onChange({ from, to })}
      />
      <div className={classes.ends}>
        <span>{formatFigure(style.from)}</span>
        <span>{formatFigure(style.to)}</span>
      </div>
    </>
  );
}
