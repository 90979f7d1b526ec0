import { useId } from 'react';
import { formatDate, formatDayAndMonth } from '../../formatting/dates.ts';
import { formatNumber } from '../../formatting/numbers.ts';
import { texts } from './texts.ts';
import classes from './UsagePlot.module.css';

interface UsagePlotProps {
  readonly title: string;
  /** Oldest first, up to today; `day` is 'YYYY-MM-DD'. */
  readonly days: readonly { readonly day: string; readonly count: number }[];
  /** Colour of the bars, by its name in the theme: haematoxylin is blue-purple, eosin is rose (as in stained tissue). */
  readonly color: 'haematoxylin' | 'eosin';
}

/** Size of the plot in SVG units; the style sheet stretches it to its container. */
const width = 300;
const height = 90;
/** Width of a bar as a fraction of the width of its day. */
const barWidthFraction = 0.7;
/** Minimum height of a bar in SVG units, so that a day with a few events is visible beside a busy one. */
const minBarHeight = 2;

/** Bar chart of the admin dashboard with one number per day. A collapsible table below it shows the exact numbers. */
export function UsagePlot({ title, days, color }: UsagePlotProps) {
  const id = useId();
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const maxCount = Math.max(1, ...days.map(({ count }) => count)); // at least 1, because counts are divided by it
  const dayWidth = width / Math.max(1, days.length);
  const firstDay = days[0];
  const busiestDay = days.find(({ count }) => count === maxCount);
  const description =
    total === 0 || busiestDay === undefined
      ? texts.plotEmpty
      : texts.plotDescription(formatNumber(total), formatNumber(maxCount), formatDay(busiestDay.day));

  return (
    <figure className={classes.plot}>
      <figcaption className={classes.caption}>
        <span className={classes.title}>{title}</span>
        <span className={classes.total}>{formatNumber(total)}</span>
      </figcaption>
      <svg
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-description`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className={classes.bars}
        data-color={color}
      >
        <title id={`${id}-title`}>{texts.plotTitle(title)}</title>
        <desc id={`${id}-description`}>{description}</desc>
        <line x1={0} x2={width} y1={height} y2={height} className={classes.baseline} />
        {days.map(({ day, count }, index) => {
          const barHeight = count === 0 ? 0 : Math.max(minBarHeight, (count / maxCount) * height);
          const margin = (dayWidth * (1 - barWidthFraction)) / 2;
          return (
            <rect
              key={day}
              x={index * dayWidth + margin}
              y={height - barHeight}
              width={dayWidth * barWidthFraction}
              height={barHeight}
            />
          );
        })}
      </svg>
      <div className={classes.axis} aria-hidden>
        <span>{firstDay && formatShortDay(firstDay.day)}</span>
        <span>{texts.today}</span>
      </div>
      <details className={classes.table}>
        <summary>{texts.plotTable(title)}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.day}</th>
              <th scope="col">{title}</th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ day, count }) => (
              <tr key={day}>
                <th scope="row">{formatDay(day)}</th>
                <td>{formatNumber(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/**
 * Formats a day such as '2026-11-21'. JavaScript parses '2026-11-21T00:00:00' as local midnight, but '2026-11-21' as midnight UTC, which is
 * still the day before in time zones west of UTC.
 */
const formatDay = (day: string) => formatDate(`${day}T00:00:00`);

const formatShortDay = (day: string) => formatDayAndMonth(`${day}T00:00:00`);
