import { useSettled } from '../../../components/use-settled.ts';
import { texts } from './texts.ts';
import { UploadItem } from './UploadItem.tsx';
import classes from './UploadPanel.module.css';
import type { UploadListRow } from './upload-list-row.ts';

/** The list of uploads. For 700 ms after rows have moved, the buttons that remove an upload are disabled. */
export function UploadList({ rows }: { readonly rows: readonly UploadListRow[] }) {
  const isSettled = useSettled(rows.map(({ key, actions }) => `${key} ${actions.join(' ')}`).join());
  return (
    <ul className={classes.list} aria-label={texts.list}>
      {rows.map((row) => (
        <UploadItem key={row.key} row={row} isSettled={isSettled} />
      ))}
    </ul>
  );
}
