import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

const rows = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Placeholder of the catalogue while it loads; its rows have the height of the real rows, so that nothing moves afterwards. */
export function CatalogueSkeleton() {
  return (
    <div className={classes.list}>
      <p className={classes.loading} role="status">
        {texts.loadingImages}
      </p>
      <div aria-hidden>
        {rows.map((row) => (
          <div key={row} className={classes.rowComing}>
            <span className={classes.thumbnail} />
            <span className={classes.rowText}>
              <span className={classes.bone} />
              <span className={classes.bone} />
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}
