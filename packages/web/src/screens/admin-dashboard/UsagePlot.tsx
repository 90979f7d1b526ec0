import { useId } from 'react';
import { formatDate, formatDayAndMonth } from '../../formatting/dates.ts';
import { formatNumber } from '../../formatting/numbers.ts';
import { texts } from './texts.ts';
import classes from './UsagePlot.module.css';

interface UsagePlotProps {
  readonly title: string;
  /** Oldest first; `day` is 'YYYY-MM-DD'. */
  readonly days: readonly { readonly day: string; readonly count: number }[];
  readonly color: 'haematoxylin' | 'eosin';
}

const width = 300;
const height = 90;
/** Of the room a day has. */
const barShare = 0.7;
/** A day on which anything happened can be seen. */
const leastHeight = 2;

/** One count a day, as bars; the same numbers as a table for who wants them exactly or cannot see the bars. */
export function UsagePlot({ title, days, color }: UsagePlotProps) {
  const id = useId();
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(1, ...days.map(({ count }) => count));
  const room = width / Math.max(1, days.length);
  const first = days[0];
  const busiest = days.find(({ count }) => count === most);
  const description =
    total === 0 || busiest === undefined
      ? texts.plotNothing
      : texts.plotDescription(formatNumber(total), formatNumber(most), dayCalled(busiest.day));

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
        <line x1={0} x2={width} y1={height} y2={height} className={classes.ground} />
        {days.map(({ day, count }, place) => {
          const barHeight = count === 0 ? 0 : Math.max(leastHeight, (count / most) * height);
          return (
            <rect
              key={day}
              x={place * room + (room * (1 - barShare)) / 2}
              y={height - barHeight}
              width={room * barShare}
              height={barHeight}
            />
          );
        })}
      </svg>
      <div className={classes.axis} aria-hidden>
        <span>{first && shortDay(first.day)}</span>
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
                <th scope="row">{dayCalled(day)}</th>
                <td>{formatNumber(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** A calendar day has no hour: taken as local midnight it stays the same day everywhere. */
const dayCalled = (day: string) => formatDate(`${day}T00:00:00`);

const shortDay = (day: string) => formatDayAndMonth(`${day}T00:00:00`);
