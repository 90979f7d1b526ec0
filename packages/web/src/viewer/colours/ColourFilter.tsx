import { type ColourAdjustment, linearToneOf, saturationMatrix } from './adjustment.ts';

interface ColourFilterProps {
  readonly id: string;
  readonly adjustment: ColourAdjustment;
}

/**
 * Renders a colour adjustment as an SVG filter, for computers on which the slide is drawn without WebGL. Styles use it as
 * `url(#id)`. The filter calculates with sRGB values, as the WebGL shader does.
 */
export function ColourFilter({ id, adjustment }: ColourFilterProps) {
  const { gamma, saturation } = adjustment;
  const { slopes, intercept } = linearToneOf(adjustment);
  const matrix = saturationMatrix(saturation);
  // A row of `feColorMatrix` has five numbers; those for alpha and the constant are 0.
  const rows = [matrix.slice(0, 3), matrix.slice(3, 6), matrix.slice(6, 9)].map(
    (row) => `${row.join(' ')} 0 0`,
  );
  const channels = ['feFuncR', 'feFuncG', 'feFuncB'] as const;
  return (
    <svg width={0} height={0} aria-hidden="true" style={{ position: 'absolute' }}>
      {/* By default, the area of a filter is larger than the filtered element; here it is the same. */}
      <filter id={id} colorInterpolationFilters="sRGB" x="0" y="0" width="1" height="1">
        <feComponentTransfer>
          {channels.map((Channel, index) => (
            <Channel key={Channel} type="linear" slope={slopes[index]} intercept={intercept} />
          ))}
        </feComponentTransfer>
        <feComponentTransfer>
          {channels.map((Channel) => (
            <Channel key={Channel} type="gamma" exponent={1 / gamma} />
          ))}
        </feComponentTransfer>
        {/* The last row keeps alpha. */}
        <feColorMatrix type="matrix" values={`${rows.join(' ')} 0 0 0 1 0`} />
      </filter>
    </svg>
  );
}
